"""Navi itself, as a source of sessions. The built-in agent's driver is part of the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navi.vendors.vendor import Vendor

if TYPE_CHECKING:
    from navi.vendors.navi.history import NaviSource


class Navi(Vendor):
    name = "navi"
    title = "Navi"

    def source(self) -> NaviSource:
        from navi.vendors.navi.history import NaviSource

        return NaviSource()
