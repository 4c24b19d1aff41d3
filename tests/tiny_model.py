"""A model in the format of all-MiniLM-L6-v2 that knows a few dozen words.

Words of the same group mean the same to it. The vector of a text is nearly the mean of its words'.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from navi.base.system_clock import SystemClock
from navi.memory.index_paths import index_paths
from navi.memory.semantic.model.installation import install
from navi.memory.semantic.model.model_files import InstalledModel

HIDDEN, HEADS, LAYERS, POSITIONS = 256, 2, 2, 256
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
GROUPS = (
    "car automobile vehicle, slow sluggish, crash abort fail, login signin, cat kitten, red, "
    "bicycle bike, broken defective, paint colour, garden yard, tomato, water rain, invoice bill, "
    "a, man, is, eating, food, piece, of, bread, the, disk, build, server, full, my, in"
)


def write_tiny_model(folder: Path, *, seed: int = 1, groups: str = GROUPS) -> Path:
    """A folder such as `recall model install --from` takes."""
    folder.mkdir(parents=True, exist_ok=True)
    meanings = [group.split() for group in groups.split(",")]
    words = [*SPECIAL, *(word for meaning in meanings for word in meaning)]
    random = np.random.default_rng(seed)
    rows = [np.zeros(HIDDEN, np.float32)] * len(SPECIAL)
    for meaning in meanings:
        rows += [random.standard_normal(HIDDEN).astype(np.float32)] * len(meaning)
    _write_tokenizer(folder / "tokenizer.json", words)
    _write_weights(folder / "model.safetensors", _weights(np.array(rows), random))
    config = {"num_attention_heads": HEADS, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def install_tiny_model(folder: Path, *, seed: int = 1) -> InstalledModel:
    """Install it for the index that the environment names."""
    source = write_tiny_model(folder / f"tiny-{seed}", seed=seed)
    return install(index_paths(), source, SystemClock().now(), lambda _: None)


def _weights(words: np.ndarray[Any, Any], random: np.random.Generator) -> dict[str, Any]:
    def small(*shape: int) -> Any:
        return (random.standard_normal(shape) * 0.01).astype(np.float32)

    def norm(name: str) -> dict[str, Any]:
        zeros, ones = np.zeros(HIDDEN, np.float32), np.ones(HIDDEN, np.float32)
        return {f"{name}.LayerNorm.weight": ones, f"{name}.LayerNorm.bias": zeros}

    def linear(name: str, inputs: int, outputs: int) -> dict[str, Any]:
        zeros = np.zeros(outputs, np.float32)
        return {f"{name}.weight": small(outputs, inputs), f"{name}.bias": zeros}

    weights = {
        "embeddings.word_embeddings.weight": words,
        "embeddings.position_embeddings.weight": np.zeros((POSITIONS, HIDDEN), np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((2, HIDDEN), np.float32),
        **norm("embeddings"),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            weights |= linear(f"{name}.attention.self.{part}", HIDDEN, HIDDEN)
        weights |= linear(f"{name}.attention.output.dense", HIDDEN, HIDDEN)
        weights |= linear(f"{name}.intermediate.dense", HIDDEN, 2 * HIDDEN)
        weights |= linear(f"{name}.output.dense", 2 * HIDDEN, HIDDEN)
        weights |= norm(f"{name}.attention.output") | norm(f"{name}.output")
    return weights


def _write_weights(path: Path, weights: dict[str, Any]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    start = 0
    for name, array in weights.items():
        end = start + array.nbytes
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [start, end]}
        start = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    arrays = b"".join(array.tobytes() for array in weights.values())
    path.write_bytes(len(text).to_bytes(8, "little") + text + arrays)


def _write_tokenizer(path: Path, words: list[str]) -> None:
    vocabulary = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.save(str(path))
