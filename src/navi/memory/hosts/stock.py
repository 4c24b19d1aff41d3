"""All sessions on this machine: which to offer to others, and which offers to accept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from navi.base.timestamps import microseconds
from navi.memory.hosts import bundle, own_sessions, received
from navi.memory.hosts.bundle import LARGEST_FILE, BadBundle, Head
from navi.memory.hosts.own_sessions import OwnSession
from navi.memory.hosts.received import Received, Reception
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import Host, this_machine
from navi.memory.index_paths import IndexPaths


class Offer(msgspec.Struct, frozen=True):
    """A session that one machine can send to another."""

    host: Host
    id: str
    revision: int
    is_masked: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.host.id, self.id

    @property
    def rank(self) -> tuple[int, bool]:
        """As in `Head`."""
        return self.revision, not self.is_masked


class Stock(NamedTuple):
    """All sessions on this machine, its own and those it received."""

    paths: IndexPaths
    host: Host
    own: dict[str, OwnSession]
    own_ids: set[str]
    """Also those that don't count as sessions, such as warm-ups."""
    received: dict[str, Received]
    problems: list[str]
    """What can't be sent, and why."""

    def offers(self, since: datetime | None, *, masked: bool) -> list[Offer]:
        """The sessions that can be sent: those in which something happened after `since`."""
        first = None if since is None else microseconds(since)
        own = [
            Offer(self.host, id, session.revision, masked)
            for id, session in self.own.items()
            if first is None or session.at >= first
        ]
        others = [
            Offer(head.host, id, head.revision, masked or head.is_masked)
            for id, (_, head) in self.received.items()
            if first is None or head.at >= first
        ]
        return own + others

    def wants(self, offers: Iterable[Offer]) -> list[Offer]:
        """The offers of sessions, or of revisions, that this machine does not have."""
        return [offer for offer in offers if self._is_new(offer)]

    def bundles(self, offers: Iterable[Offer], *, masked: bool) -> Iterator[tuple[Offer, Path]]:
        """Each session in a file, which the next one replaces.

        Skips sessions that are gone by now. Adds those that are too large to `problems`.
        """
        for offer, path in self._bundles({offer.key: offer for offer in offers}, masked=masked):
            if path.stat().st_size <= LARGEST_FILE:
                yield offer, path
            else:
                self.problems.append(f"session {offer.id} is too large to be sent")

    def receive(
        self, temporary: Path, key: tuple[str, str] | None, label: str, result: SyncResult
    ) -> None:
        """Check a bundle and put it in its place, or record in `result` why it is refused."""
        try:
            reception = received.receive(self.paths, temporary, self.host, self.own_ids, key)
        except BadBundle as error:
            result.refused.append(f"{label}: {error.message}")
            return
        result.received += reception is Reception.STORED

    def _bundles(
        self, wanted: dict[tuple[str, str], Offer], *, masked: bool
    ) -> Iterator[tuple[Offer, Path]]:
        chosen = {id: each for id, each in self.own.items() if (self.host.id, id) in wanted}
        temporary = received.temporary_file(self.paths)
        try:
            for head, rows in own_sessions.bundles(self.paths, self.host, chosen):
                _write(temporary, head, rows, masked=masked)
                yield wanted[self.host.id, head.id], temporary
            for id, (path, head) in self.received.items():
                if (head.host.id, id) not in wanted:
                    continue
                if masked and not head.is_masked:
                    _write(temporary, head, bundle.read_rows(path), masked=True)
                    yield wanted[head.host.id, id], temporary
                elif path.exists():
                    yield wanted[head.host.id, id], path
        finally:
            temporary.unlink(missing_ok=True)

    def _is_new(self, offer: Offer) -> bool:
        if offer.host.id == self.host.id or offer.id in self.own_ids:
            return False
        if offer.id not in self.received:
            return True
        return offer.rank > self.received[offer.id].head.rank


def stock(paths: IndexPaths, now: datetime) -> Stock:
    received.remove_leftovers(paths.received, now)
    held, problems = received.sessions(paths)
    own, own_ids = own_sessions.revisions(paths, now)
    return Stock(
        paths,
        this_machine(paths),
        own,
        own_ids | received.put_away_ids(paths),
        held,
        problems,
    )


def _write(path: Path, head: Head, rows: Iterable[bundle.Row], *, masked: bool) -> None:
    if masked:
        head, rows = bundle.without_secrets(head, rows)
    with open(path, "wb") as file:
        bundle.write_bundle(file, head, rows)
