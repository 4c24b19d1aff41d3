"""Which files have to be read: those whose time or size changed, newest first.

Only the file system's own notes are looked at. No file is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from navi.base.errors import NaviError
from navi.memory.model import FoundFile
from navi.memory.record_ids import session_id
from navi.vendors.source import Source


class Known(NamedTuple):
    """What the index has of a file."""

    id: str
    mtime: float
    size: int
    is_archived: bool


@dataclass(slots=True)
class Plan:
    changed: list[tuple[str, str, FoundFile]] = field(default_factory=list)
    """Session id, source and file, newest first."""
    skipped: int = 0
    vanished: list[str] = field(default_factory=list)
    """Sessions whose file is gone."""
    returned: list[str] = field(default_factory=list)
    """Sessions whose file was gone and is back, unchanged."""
    stamps: dict[str, str] = field(default_factory=dict)
    """Of the sources that have one, taken before they were looked at."""
    warnings: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.changed) + self.skipped


def plan(
    sources: Iterable[Source],
    known: Mapping[tuple[str, str], Known],
    *,
    is_full: bool,
    stamps: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """`known` is by source and path. A source whose stamp is in `stamps` has nothing new."""
    made = Plan()
    looked: dict[str, set[str]] = {}
    covers: dict[str, Callable[[str], bool]] = {}
    unreadable: list[str] = []
    for source in sources:
        found: set[str] = set()
        name = source.name
        covers[name] = source.covers
        stamp = source.stamp()
        if stamp is not None:
            made.stamps[name] = stamp
            if stamps.get(name) == stamp and not is_full:
                made.skipped += sum(1 for each in known if each[0] == name)
                continue
        try:
            for file in source.discover():
                found.add(file.path)
                _consider(made, name, file, known.get((name, file.path)), is_full)
        except (OSError, NaviError) as error:
            # Half a look says nothing about what is gone.
            made.warnings.append(f"{name}: can't list all sessions: {error}")
            continue
        looked[name] = found
        unreadable += source.unreadable
    made.warnings += [
        f"{place}: can't be read, so its sessions are not updated" for place in unreadable
    ]
    closed = tuple(place if place.endswith(".jsonl") else place + os.sep for place in unreadable)
    made.vanished = [
        each.id
        for (name, path), each in known.items()
        if not each.is_archived
        and name in looked
        and path not in looked[name]
        and covers[name](path)
        and not path.startswith(closed)
    ]
    made.changed.sort(key=lambda each: each[2].mtime, reverse=True)
    return made


def _consider(made: Plan, source: str, file: FoundFile, known: Known | None, is_full: bool) -> None:
    if known is None:
        made.changed.append((session_id(source, file.path), source, file))
    elif is_full or (known.mtime, known.size) != (file.mtime, file.size):
        made.changed.append((known.id, source, file))
    else:
        made.skipped += 1
        if known.is_archived:
            made.returned.append(known.id)
