"""The settings of each peer, and when it was last synced."""

from __future__ import annotations

from datetime import datetime

import msgspec

from navi.base.whole_file import replace_file
from navi.memory.index_errors import IndexUnusable
from navi.memory.index_paths import IndexPaths


class Peer(msgspec.Struct, frozen=True):
    path_map: list[tuple[str, str]] = []
    is_masked: bool = False
    """Whether secrets are masked in the sessions that are exchanged with it."""
    program: str = "recall"
    """How to start recall there."""
    synced_at: datetime | None = None
    """The end of the last sync that was complete."""


def load(paths: IndexPaths) -> dict[str, Peer]:
    """All peers, by the name that people type."""
    path = paths.hosts / "peers.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Peer])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.DecodeError) as error:
        raise IndexUnusable(
            f"can't read the list of peers, {path}: {error}",
            hint="remove the file, then give --map and --mask again",
        ) from error


def save(paths: IndexPaths, name: str, peer: Peer) -> None:
    peers = {**load(paths), name: peer}
    replace_file(paths.hosts / "peers.json", msgspec.json.encode(peers))
