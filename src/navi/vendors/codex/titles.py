"""The names that people gave to Codex's sessions. Codex keeps them in a separate file."""

from __future__ import annotations

import os

import msgspec

from navi.vendors.codex.home import home_of

ID_CHARACTERS = 36


class Entry(msgspec.Struct):
    id: str
    thread_name: str


_entry_decoder = msgspec.json.Decoder(Entry)


class Titles:
    """Reads each home's file once for all sessions, and again when it has changed."""

    def __init__(self) -> None:
        self._titles: dict[str, dict[str, str]] = {}
        self._versions: dict[str, tuple[int, int]] = {}

    def of(self, rollout: str) -> str | None:
        home = home_of(rollout)
        if home is None:
            return None
        session_id = os.path.basename(rollout).removesuffix(".jsonl")[-ID_CHARACTERS:]
        return self._titles_in(home).get(session_id)

    def _titles_in(self, home: str) -> dict[str, str]:
        path = os.path.join(home, "session_index.jsonl")
        try:
            status = os.stat(path)
            version = (status.st_mtime_ns, status.st_size)
            if self._versions.get(path) != version:
                self._titles[path] = _read(path)
                self._versions[path] = version
        except OSError:
            return {}
        return self._titles[path]


def _read(path: str) -> dict[str, str]:
    titles: dict[str, str] = {}
    with open(path, "rb") as file:
        for line in file:
            try:
                entry = _entry_decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            titles[entry.id] = entry.thread_name
    return titles
