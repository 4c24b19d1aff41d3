"""Why a search by meaning is not possible."""

from __future__ import annotations

from navi.base.errors import NaviError


class SemanticUnavailable(NaviError):
    """Searches use words alone, and report this error."""

    kind, http_status = "semantic_unavailable", 503


class PackagesMissing(SemanticUnavailable):
    def __init__(self) -> None:
        super().__init__(
            "the packages for search by meaning are not installed",
            hint="install heynavi[semantic], for example: uv tool install 'heynavi[semantic]'",
        )


class NoModel(SemanticUnavailable):
    kind = "no_model"

    def __init__(self) -> None:
        super().__init__("no model is installed", hint="recall model install")


class SwitchedOff(SemanticUnavailable):
    def __init__(self) -> None:
        super().__init__(
            "search by meaning is switched off", hint="set `enabled = true` under [semantic]"
        )


class NoVectors(SemanticUnavailable):
    def __init__(self) -> None:
        super().__init__(
            "no passage has a vector yet",
            hint="recall index --embed  (a server does it in the background)",
        )


class ModelUnusable(SemanticUnavailable):
    """The model's files are damaged, or the endpoint doesn't answer as it should."""

    kind = "model_unusable"
