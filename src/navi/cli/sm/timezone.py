"""The time zone in which `sm` reads and prints times."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import tzinfo

from navi.base.system_clock import machine_timezone
from navi.base.timezone import parse_timezone
from navi.client.server_address import settings_section


def own_timezone(environment: Mapping[str, str] = os.environ) -> tzinfo:
    """The zone from the person's settings, or else the machine's."""
    name = environment.get("NAVI_RECALLS_TIMEZONE")
    name = name or settings_section("recalls", environment).get("timezone")
    return parse_timezone(str(name)) if name else machine_timezone(environment)
