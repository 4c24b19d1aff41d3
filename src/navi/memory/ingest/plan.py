"""Which files have to be read: new ones, and those whose mtime or size changed. Opens no file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from navi.base.errors import NaviError
from navi.memory.ingest.report import RefreshResult
from navi.memory.model import SessionFile
from navi.memory.record_ids import session_id
from navi.vendors.source import Source


class IndexedFile(NamedTuple):
    """A file as the index last saw it."""

    session_id: str
    mtime: float
    size: int
    is_archived: bool


IndexedFiles = dict[tuple[str, str], IndexedFile]
"""By source and path."""


@dataclass(slots=True)
class Plan:
    changed: list[tuple[str, str, SessionFile]] = field(default_factory=list)
    """(session id, source, file), newest first."""
    skipped: int = 0
    """How many files have not changed."""
    vanished_ids: list[str] = field(default_factory=list)
    """Sessions whose file has disappeared since the last pass."""
    returned_ids: list[str] = field(default_factory=list)
    """Sessions whose file had disappeared and is back, unchanged."""
    stamps: dict[str, str] = field(default_factory=dict)
    """`Source.stamp` of each source that has one, taken before its files were listed."""
    warnings: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.changed) + self.skipped

    def as_result(self) -> RefreshResult:
        """The result of a pass that has not read anything yet."""
        return RefreshResult(skipped=self.skipped, total=self.total, warnings=list(self.warnings))


def make_plan(
    sources: Iterable[Source],
    indexed_files: IndexedFiles,
    *,
    is_full: bool,
    stamps: Mapping[str, str] = MappingProxyType({}),
) -> Plan:
    """Compare the sources' files with the index. If `is_full`, every file counts as changed.

    Otherwise, a source whose stamp is still the one in `stamps` does not list its files.
    """
    plan = Plan()
    paths_by_source: dict[str, set[str]] = {}
    covers: dict[str, Callable[[str], bool]] = {}
    unreadable: list[str] = []
    for source in sources:
        paths: set[str] = set()
        name = source.name
        covers[name] = source.covers
        stamp = source.stamp()
        if stamp is not None:
            plan.stamps[name] = stamp
            if stamps.get(name) == stamp and not is_full:
                plan.skipped += sum(1 for each in indexed_files if each[0] == name)
                continue
        try:
            for file in source.discover():
                paths.add(file.path)
                _add(plan, source, file, indexed_files.get((name, file.path)), is_full)
        except (OSError, NaviError) as error:
            # An incomplete listing does not show which files are gone.
            plan.warnings.append(f"{name}: can't list all sessions: {error}")
            continue
        paths_by_source[name] = paths
        unreadable += source.unreadable
    plan.warnings += [
        f"{path}: can't be read, so its sessions are not updated" for path in unreadable
    ]
    unreadable_prefixes = tuple(
        path if path.endswith(".jsonl") else path + os.sep for path in unreadable
    )
    plan.vanished_ids = [
        each.session_id
        for (name, path), each in indexed_files.items()
        if not each.is_archived
        and name in paths_by_source
        and path not in paths_by_source[name]
        and covers[name](path)
        and not path.startswith(unreadable_prefixes)
    ]
    plan.changed.sort(key=lambda each: each[2].mtime, reverse=True)
    return plan


def _add(
    plan: Plan, source: Source, file: SessionFile, existing: IndexedFile | None, is_full: bool
) -> None:
    name = source.name
    if existing is None:
        plan.changed.append(
            (source.session_id(file.path) or session_id(name, file.path), name, file)
        )
    elif is_full or (existing.mtime, existing.size) != (file.mtime, file.size):
        plan.changed.append((existing.session_id, name, file))
    else:
        plan.skipped += 1
        if existing.is_archived:
            plan.returned_ids.append(existing.session_id)
