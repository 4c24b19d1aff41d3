"""Makes vectors with an endpoint that has OpenAI's API.

Texts leave this machine only through here, only if the user has set `url`, and with secrets masked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from navi.base.secrets.masking import mask
from navi.memory.semantic.model.local_model import require_numpy
from navi.memory.semantic.semantic_errors import ModelUnusable
from navi.memory.semantic.semantic_settings import ENDPOINT_DIMENSIONS, SemanticSettings

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

QUERY_SECONDS = 3.0
"""How long a search waits before it uses words alone."""
TEXTS_SECONDS = 60.0


class EndpointModel:
    def __init__(
        self, settings: SemanticSettings, environment: Mapping[str, str] = os.environ
    ) -> None:
        require_numpy()
        assert settings.url is not None
        self._settings, self._url = settings, f"{settings.url.rstrip('/')}/embeddings"
        self._key = environment.get(settings.key_env)
        self.name, self.dimensions = vectors_name(settings), settings.dimensions

    def embed(self, texts: Sequence[str]) -> Array:
        import numpy as np

        masked = [mask(text) for text in texts]
        answer = self._post({"model": self._settings.model, "input": masked}, len(texts))
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (KeyError, TypeError, ValueError) as error:
            raise ModelUnusable(
                f"{self._url} does not answer as OpenAI's API does",
                hint="check `url` under [semantic]",
            ) from error
        if vectors.shape != (len(texts), self.dimensions):
            size = vectors.shape[1] if vectors.ndim == 2 else 0
            raise ModelUnusable(
                f"{self._settings.model} answered with {len(vectors)} vectors of {size} numbers, "
                f"not {len(texts)} of {self.dimensions}",
                hint=f"set `dimensions = {size}` under [semantic]",
            )
        lengths: Array = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.maximum(lengths, 1e-12)

    def _post(self, body: dict[str, Any], count: int) -> Any:
        import httpx2

        if self.dimensions != ENDPOINT_DIMENSIONS:
            body["dimensions"] = self.dimensions
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        seconds = QUERY_SECONDS if count == 1 else TEXTS_SECONDS
        try:
            response = httpx2.post(self._url, json=body, headers=headers, timeout=seconds)
            response.raise_for_status()
            return response.json()
        except httpx2.HTTPStatusError as error:
            status = error.response.status_code
            hint = f"is the key in {self._settings.key_env} right?" if status == 401 else ""
            raise ModelUnusable(f"{self._url} answered with {status}", hint=hint) from error
        except (httpx2.HTTPError, ValueError) as error:
            raise ModelUnusable(
                f"{self._url} can't be used: {str(error) or type(error).__name__}",
                hint="check `url` under [semantic], and that the server is running",
            ) from error


def vectors_name(settings: SemanticSettings) -> str:
    """A name that differs for endpoints whose vectors can't be compared."""
    return f"{settings.model}/{settings.dimensions}@{settings.url}"
