"""The differences between Linux and macOS. No other package checks the system or reads /proc.

linux.py    Linux, through /proc
macos.py    macOS, through its commands: ps, lsof, sysctl, open, osascript
process.py  a running process, as both describe it
"""

import sys

from navi.base.platform.process import Process

if sys.platform == "darwin":
    from navi.base.platform.macos import (
        CAN_READ_ALL_ENVIRONMENTS,
        OTHERS_RECORD_SAME_START,
        SERVICE_MANAGER,
        all_open_files,
        boot_id,
        has_default_acl,
        has_desktop,
        living_processes,
        notification_command,
        open_files,
        open_page,
        pids_with_variable,
        process_start,
    )
else:
    from navi.base.platform.linux import (
        CAN_READ_ALL_ENVIRONMENTS,
        OTHERS_RECORD_SAME_START,
        SERVICE_MANAGER,
        all_open_files,
        boot_id,
        has_default_acl,
        has_desktop,
        living_processes,
        notification_command,
        open_files,
        open_page,
        pids_with_variable,
        process_start,
    )

__all__ = [
    "CAN_READ_ALL_ENVIRONMENTS",
    "OTHERS_RECORD_SAME_START",
    "SERVICE_MANAGER",
    "Process",
    "all_open_files",
    "boot_id",
    "has_default_acl",
    "has_desktop",
    "living_processes",
    "notification_command",
    "open_files",
    "open_page",
    "pids_with_variable",
    "process_start",
]
