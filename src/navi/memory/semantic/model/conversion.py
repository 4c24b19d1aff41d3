"""Turns a BERT encoder's weights into an ONNX graph whose large matrices are 8-bit integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from navi.memory.semantic.model.onnx_file import Graph
from navi.memory.semantic.model.weights import Weights

LARGEST = 63
"""The largest integer that stands for a weight. Processors without VNNI add up two products in 16
bits, which would overflow with larger integers."""
INPUTS = {"input_ids": "int64", "attention_mask": "int32", "position_ids": "int64"}
OUTPUT = "token_vectors"


def convert(weights: Weights, heads: int, epsilon: float) -> bytes:
    """The graph as an ONNX file. It computes a vector for each token."""
    encoder = _Encoder(Graph(INPUTS, {OUTPUT: "float32"}), weights, heads, epsilon)
    hidden = encoder.embeddings()
    layers = sum(name.endswith(".attention.self.query.weight") for name in weights)
    for number in range(layers):
        hidden = encoder.layer(f"encoder.layer.{number}", hidden)
    encoder.graph.add("Identity", hidden, output=OUTPUT)
    return encoder.graph.encode()


@dataclass(frozen=True, slots=True)
class _Encoder:
    graph: Graph
    weights: Weights
    heads: int
    epsilon: float

    def embeddings(self) -> str:
        words, scales = _quantized(self.weights["embeddings.word_embeddings.weight"], axis=1)
        integers = self.graph.add("Gather", self.graph.array(words), "input_ids")
        numbers = self.graph.add("Cast", integers, to=1)
        scale = self.graph.add("Gather", self.graph.array(scales), "input_ids")
        # All tokens are of type 0.
        positions = (
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        position = self.graph.add("Gather", self.graph.array(positions), "position_ids")
        total = self.graph.add("Add", self.graph.add("Mul", numbers, scale), position)
        return self._normalized("embeddings.LayerNorm", total)

    def layer(self, name: str, hidden: str) -> str:
        parts = [f"{name}.attention.self.{each}" for each in ("query", "key", "value")]
        matrix = np.concatenate([self.weights[f"{part}.weight"] for part in parts])
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        query, key, value = self.graph.split(
            "Split", self._linear(hidden, matrix, bias), outputs=3, axis=2
        )
        attended = self.graph.add(
            "MultiHeadAttention",
            *(query, key, value, "", "attention_mask"),
            domain="com.microsoft",
            num_heads=self.heads,
        )
        hidden = self._joined(f"{name}.attention.output", attended, hidden)
        wide = self._named_linear(f"{name}.intermediate.dense", hidden)
        wide = self.graph.add("Gelu", wide, domain="com.microsoft")
        return self._joined(f"{name}.output", wide, hidden)

    def _joined(self, name: str, branch: str, hidden: str) -> str:
        branch = self._named_linear(f"{name}.dense", branch)
        return self._normalized(f"{name}.LayerNorm", self.graph.add("Add", branch, hidden))

    def _normalized(self, name: str, hidden: str) -> str:
        scale, bias = (
            self.graph.array(self.weights[f"{name}.{each}"]) for each in ("weight", "bias")
        )
        return self.graph.add("LayerNormalization", hidden, scale, bias, epsilon=self.epsilon)

    def _named_linear(self, name: str, hidden: str) -> str:
        return self._linear(hidden, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _linear(self, hidden: str, matrix: np.ndarray[Any, Any], bias: np.ndarray[Any, Any]) -> str:
        integers, scales = _quantized(matrix.T, axis=0)
        zeros = np.zeros(scales.size, np.int8)
        return self.graph.add(
            "DynamicQuantizeMatMul",
            *(hidden, self.graph.array(integers), self.graph.array(scales.reshape(-1))),
            *(self.graph.array(zeros), self.graph.array(bias)),
            domain="com.microsoft",
        )


def _quantized(
    matrix: np.ndarray[Any, Any], axis: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The matrix as integers, and their scale for each row or column."""
    largest = np.abs(matrix).max(axis=axis, keepdims=True)
    scales = (np.maximum(largest, 1e-9) / LARGEST).astype(np.float32)
    return np.rint(matrix / scales).astype(np.int8), scales
