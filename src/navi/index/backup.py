"""Starting over: the old index is kept beside the new one, under the date."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from navi.index import texts
from navi.index.places import Places


@contextmanager
def replaced(places: Places, now: datetime) -> Iterator[Path | None]:
    """The old index out of the way; gives where it is now, None if there was none."""
    kept: Path | None = None
    if places.database.exists():
        kept = places.database.with_name(f"{places.database.name}.{now:%Y-%m-%dT%H%M%SZ}.bak")
        os.replace(places.database, kept)
        if places.write_ahead_log.exists():
            os.replace(places.write_ahead_log, f"{kept}.wal")
    texts.remove(places.texts)
    yield kept
