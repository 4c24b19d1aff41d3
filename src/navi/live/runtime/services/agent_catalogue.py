"""The agents that new sessions can have on this machine, and which of them is the default."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from navi.base.errors import InvalidInput
from navi.live.agents.builtin.models import MODEL_FORMS, SCRIPTED, is_model_name
from navi.live.agents.driver import Driver
from navi.live.model.agent_option import AgentOption

BUILTIN = "builtin"
NOT_ON_PATH = "not on the PATH"
NO_MODEL = "no model is set up"


@dataclass(frozen=True, slots=True)
class AgentProgram:
    """An agent that is a separate program."""

    title: str
    command: str
    models: Sequence[str] = ()

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.command) is not None


class AgentCatalogue:
    """`programs` are keyed by driver, `own_models` are those of the built-in agent.

    Without `own_models`, the built-in agent has no model.
    """

    def __init__(
        self,
        drivers: Mapping[str, Driver],
        programs: Mapping[str, AgentProgram],
        own_models: Sequence[str],
        preferred: Sequence[str],
    ) -> None:
        self._drivers = drivers
        self._programs = programs
        self._own_models = own_models
        self._preferred = preferred

    def options(self) -> list[AgentOption]:
        """The agents, whether installed or not; the demo comes last."""
        default = self.default_driver(None)
        names = sorted(self._drivers, key=lambda name: name == SCRIPTED)
        return [self._option(name, is_default=name == default) for name in names]

    def default_driver(self, model: str | None) -> str:
        """The driver of a new session that names no driver, but perhaps a model."""
        has_model = bool(self._own_models) or (model is not None and is_model_name(model))
        installed = [name for name, each in self._programs.items() if each.is_installed]
        return default_driver(self._preferred, installed, has_model=has_model)

    def require_known_model(self, driver: str, model: str) -> None:
        """Refuse a model that the first turn would refuse. Only the built-in agent's are known."""
        if driver == BUILTIN and not is_model_name(model):
            raise InvalidInput(f"unknown model {model!r}", hint=MODEL_FORMS)

    def _option(self, driver: str, *, is_default: bool) -> AgentOption:
        takes_program = self._drivers[driver].runs_programs
        if driver == SCRIPTED:
            return AgentOption(driver, "Demo (scripted replies)", is_default=is_default)
        if driver == BUILTIN:
            reason = None if self._own_models else NO_MODEL
            return AgentOption(driver, "Navi's own agent", reason, is_default, self._own_models)
        program = self._programs.get(driver)
        if program is None:  # A driver that needs no program, from another package.
            return AgentOption(driver, driver, is_default=is_default)
        reason = None if program.is_installed else NOT_ON_PATH
        return AgentOption(driver, program.title, reason, is_default, program.models, takes_program)


def default_driver(preferred: Sequence[str], installed: Collection[str], *, has_model: bool) -> str:
    """The built-in agent if it has a model, else the first preferred agent that is installed.

    With neither, the built-in agent, whose turns explain how to set up a model. Never the demo.
    """
    if has_model:
        return BUILTIN
    return next((driver for driver in preferred if driver in installed), BUILTIN)
