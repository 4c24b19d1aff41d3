"""Runs the installed model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from navi.memory.semantic.model.model_files import MODEL, TOKENIZER, InstalledModel
from navi.memory.semantic.semantic_errors import ModelUnusable, PackagesMissing

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

MOST_TOKENS = 256
"""What the model was trained for. A passage of a thousand characters rarely has more."""
BATCH = 8
"""Passages at a time. More need more memory and are not faster."""


class LocalModel:
    def __init__(self, model: InstalledModel, *, threads: int = 1) -> None:
        self.name, self.dimensions = model.vectors_name, model.dimensions
        self._session, self._tokenizer = _load(model.folder, threads)

    def embed(self, texts: Sequence[str]) -> Array:
        import numpy as np

        # Texts of about the same length, so that few tokens are padding.
        order = sorted(range(len(texts)), key=lambda each: len(texts[each]))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            vectors[batch] = self._embed_batch([texts[each] for each in batch])
        return vectors

    def _embed_batch(self, texts: list[str]) -> Array:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], np.int64)
        mask = np.array([each.attention_mask for each in encoded], np.int32)
        positions = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
        inputs = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
        (tokens,) = self._session.run(None, inputs)
        means = (tokens * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        lengths: Array = np.linalg.norm(means, axis=1, keepdims=True)
        vectors: Array = means / np.maximum(lengths, 1e-12)
        return vectors


def require_numpy() -> None:
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        raise PackagesMissing from error


def require_packages() -> None:
    require_numpy()
    try:
        import onnxruntime  # noqa: F401
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise PackagesMissing from error


def _load(folder: Path, threads: int) -> tuple[Any, Any]:
    require_packages()
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors; they are raised, too
    try:
        session = onnxruntime.InferenceSession(
            str(folder / MODEL), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    except Exception as error:  # both raise errors of many kinds, some without a common base
        raise ModelUnusable(
            f"the model in {folder} can't be loaded: {str(error).splitlines()[0][:200]}",
            hint="recall model install  (installs it again)",
        ) from error
    tokenizer.enable_truncation(MOST_TOKENS)
    tokenizer.enable_padding()
    return session, tokenizer
