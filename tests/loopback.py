"""A loopback address on which no other program of the machine listens."""

from __future__ import annotations

import os
import sys

import pytest

OWN_HOST = f"127.{os.getpid() >> 16 & 255}.{os.getpid() >> 8 & 255}.{os.getpid() & 255}"
needs_own_host = pytest.mark.skipif(
    sys.platform == "darwin", reason="the system has only one loopback address"
)
