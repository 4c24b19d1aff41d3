"""The service manager of this system."""

from __future__ import annotations

from navi.base.platform import SERVICE_MANAGER
from navi.cli.navi.service.launchd import Launchd
from navi.cli.navi.service.service_manager import ServiceManager
from navi.cli.navi.service.systemd import Systemd


def installed_service() -> ServiceManager | None:
    """The service manager, if Navi is installed as a service."""
    manager = service_manager()
    return manager if manager.file.exists() else None


def service_manager() -> ServiceManager:
    return Launchd() if SERVICE_MANAGER == "launchd" else Systemd()
