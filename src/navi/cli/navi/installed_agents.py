"""The agents that are installed on this machine."""

from __future__ import annotations

import shutil

from navi.live.runtime.settings import Settings
from navi.vendors.registry import PREFERRED_AGENTS, vendors
from navi.vendors.vendor import Vendor


def installed_agents(settings: Settings) -> list[Vendor]:
    return [
        vendor
        for vendor in vendors().values()
        if vendor.command and shutil.which(settings.program(vendor).command) is not None
    ]


def fallback_agent(settings: Settings) -> Vendor | None:
    """The agent that new sessions use while no model is set up; None if none is installed."""
    installed = {agent.name: agent for agent in installed_agents(settings)}
    return next((installed[name] for name in PREFERRED_AGENTS if name in installed), None)
