"""Several machines: what a sync brings, what it leaves alone, and what it refuses."""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from navi.memory import database
from navi.memory.hosts import archive, bundle, received, stock
from navi.memory.hosts.bundle import BadBundle, Head, Message
from navi.memory.hosts.stock import Stock
from navi.memory.hosts.sync_request import SyncRequest
from navi.memory.hosts.sync_result import SyncResult
from navi.memory.hosts.this_machine import Host
from navi.memory.index_paths import IndexPaths
from navi.memory.read.search import Filters
from navi.memory.read.session_list import SessionFilters, SessionList
from tests.machines import NOW, Machine, bundles_of, machine, sync, sync_folder
from tests.memory_world import START, touch

SECRET = "sk-ant-api03-" + "Abc123Xyz" * 10
Machines = Callable[..., list[Machine]]


@pytest.fixture
def machines(
    private_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepared_index: IndexPaths,
) -> Machines:
    """Makes machines, each with a session that is named after it."""

    def make(*names: str) -> list[Machine]:
        made = [machine(tmp_path, name, monkeypatch, prepared_index) for name in names]
        for each in made:
            each.say(f"{each.home.name}-1", f"hello from {each.home.name}", "and more")
        return made

    return make


def test_a_sync_brings_every_row_to_both_machines(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    with lap.world() as world:
        file = world.file("busy").say("fix the build").run("pytest -q", text="running it")
        file.printed("x\n" * 900 + "error: tests failed\n" + "y\n" * 900).think("hm")
        world.index()
    result = sync(desk, lap)
    assert (result.sent, result.received, result.refused) == (1, 2, [])
    assert desk.ids() == lap.ids()
    assert desk.rows(desk.ids()) == lap.rows(desk.ids())
    assert desk.hosts() == {"desk-1": None, "lap-1": "lap", "busy": "lap"}
    assert lap.hosts() == {"desk-1": "desk", "lap-1": None, "busy": None}
    assert desk.texts("tests failed") == lap.texts("tests failed") != []


def test_a_second_sync_has_nothing_to_do(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    sync(desk, lap)
    desk.index(full=True)  # rewrites every row, with the same content
    result = sync(desk, lap)
    assert (result.sent, result.received) == (0, 0)


def test_a_session_that_grew_replaces_its_earlier_revision(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    sync(desk, lap)
    lap.say("lap-1", "it went on")
    assert (sync(desk, lap).received, len(bundles_of(desk, lap.stock().host.id))) == (1, 1)
    assert desk.rows(desk.ids()) == lap.rows(desk.ids())
    assert len(desk.texts("it went on")) == 1


@pytest.mark.proof
def test_a_machine_passes_on_the_sessions_of_another_one(machines: Machines) -> None:
    desk, lap, phone = machines("desk", "lap", "phone")
    sync(lap, desk)
    sync(phone, lap)
    assert phone.hosts() == {"desk-1": "desk", "lap-1": "lap", "phone-1": None}
    sync(desk, phone)
    assert desk.hosts() == {"desk-1": None, "lap-1": "lap", "phone-1": "phone"}
    desk.say("desk-1", "newer words")
    sync(phone, desk)
    # The machine in the middle has an earlier revision, which does not replace the later one.
    assert sync(phone, lap).received == 0
    assert phone.texts("newer words") == lap.texts("newer words") == ["newer words"]


@pytest.mark.proof
def test_only_one_direction_and_only_what_is_recent(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    assert sync(desk, lap, SyncRequest(since=NOW)).sent == 0
    assert sync(desk, lap, SyncRequest(is_dry_run=True)).received == 1
    assert desk.hosts() == {"desk-1": None}
    result = sync(desk, lap, SyncRequest(since=START, sends=False))
    assert (result.sent, result.received) == (0, 1)
    result = sync(desk, lap, SyncRequest(receives=False))
    assert (result.sent, result.received) == (1, 0)


def test_in_a_folder_each_machine_writes_only_its_own_part(
    machines: Machines, tmp_path: Path
) -> None:
    desk, lap, phone = machines("desk", "lap", "phone")
    folder = tmp_path / "shared"
    folder.mkdir()
    sync_folder(desk, folder)
    written_by_desk = sorted(folder.rglob("*"))
    assert sync_folder(lap, folder).received == 1
    assert sync_folder(desk, folder).received == 1
    desk.say("desk-1", "it went on")
    assert sync_folder(desk, folder).sent == 1
    mine = folder / desk.stock().host.id / desk.stock().host.id
    assert [each.name.count(".") for each in mine.iterdir()] == [3]  # one file, not two revisions
    assert set(folder.iterdir()) - {folder / lap.stock().host.id} <= set(written_by_desk)
    sync_folder(phone, folder)
    assert phone.hosts() == {"desk-1": "desk", "lap-1": "lap", "phone-1": None}
    assert phone.texts("it went on") == ["it went on"]
    sync_folder(desk, folder)
    assert (sync_folder(desk, folder).sent, sync_folder(desk, folder).received) == (0, 0)


def test_unfinished_and_conflicting_copies_in_a_folder_are_left_alone(
    machines: Machines, tmp_path: Path
) -> None:
    desk, lap = machines("desk", "lap")
    folder = tmp_path / "shared"
    folder.mkdir()
    sync_folder(desk, folder)
    [whole] = folder.rglob("*.jsonl.gz")
    data = whole.read_bytes()
    whole.with_name(f".syncthing.{whole.name}.tmp").write_bytes(data[:50])
    whole.with_name(whole.name.replace(".jsonl", ".sync-conflict-1.jsonl")).write_bytes(data)
    whole.write_bytes(data[:-20])
    result = sync_folder(lap, folder)
    assert result.received == 0
    assert len(result.refused) == 1
    assert "damaged" in result.refused[0]
    whole.write_bytes(data)
    assert sync_folder(lap, folder).received == 1


def test_masked_secrets_never_leave_the_machine(machines: Machines, tmp_path: Path) -> None:
    desk, lap = machines("desk", "lap")
    with desk.world() as world:
        file = world.file("keys").say(f"my key is {SECRET}").run(f"export API_KEY={SECRET}")
        file.printed(f"API_KEY={SECRET}").think(f"they use {SECRET}")
        world.index()
    folder = tmp_path / "shared"
    folder.mkdir()
    sync_folder(desk, folder)  # unmasked, by mistake
    sync_folder(desk, folder, SyncRequest(is_masked=True))
    contents = [gzip.decompress(each.read_bytes()) for each in folder.rglob("*.gz")]
    assert len(contents) == 2
    assert not any(SECRET.encode() in each for each in contents)
    sync(desk, lap, SyncRequest(is_masked=True))
    with lap.world() as world:
        assert SECRET not in str(world.everything())
        calls = world.rows("SELECT tool_input FROM tool_calls")
    assert all(json.loads(each[0]) for each in calls)
    # Without --mask, the whole session replaces the masked one; never the reverse.
    assert sync(desk, lap).sent == 2
    assert sync(desk, lap, SyncRequest(is_masked=True)).sent == 0


def test_paths_are_mapped_to_those_of_this_machine(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    with lap.world() as world:
        call = {"type": "tool_use", "id": "t", "name": "Read"}
        path = f"{lap.home}/shop/src/cart.ts"
        world.file("reader").line("assistant", [{**call, "input": {"file_path": path}}])
        world.file("elsewhere", "shop-old").say(f"not {lap.home}/shop but another")
        world.index()
    sync(desk, lap)
    filters = Filters(project=f"{desk.home}/shop/", file=f"{desk.home}/shop/src/cart.ts")
    with desk.world() as world:
        assert world.find("", filters) == []
    received.set_path_map(
        desk.paths, lap.stock().host.id, [(f"{lap.home}/shop", f"{desk.home}/shop")]
    )
    desk.index()
    with desk.world() as world:
        [hit] = world.find("", filters)
        assert (hit.host, hit.project) == ("lap", f"{desk.home}/shop")
        [other] = world.find("not but another")
        assert other.project == f"{lap.home}/shop-old"
        assert f"{lap.home}/shop but" in other.snippet.text  # what was said stays as it is
    assert lap.rows([hit.session_id])["tool_calls"] != desk.rows([hit.session_id])["tool_calls"]


def test_host_is_a_filter_of_lists_and_searches(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    sync(desk, lap)
    with desk.world() as world:
        for name, sessions in (("lap", ["lap-1"]), ("LAP", ["lap-1"]), ("moon", [])):
            listed = world.sessions(SessionFilters(host=name))
            assert [each["source_session_id"] for each in listed] == sessions
            hits = world.find("hello from", Filters(host=name))
            assert [each.source_session_id for each in hits] == sessions
        for name in ("here", "desk"):
            assert [each["host"] for each in world.sessions(SessionFilters(host=name))] == [None]
            assert [each.host for each in world.find("hello from", Filters(host=name))] == [None]
        assert SessionList(world.paths).hosts() == ["lap"]


def test_received_sessions_survive_a_new_index(machines: Machines) -> None:
    desk, lap = machines("desk", "lap")
    sync(desk, lap)
    before = desk.rows(desk.ids())
    desk.index(recreate=True)
    assert desk.rows(desk.ids()) == before
    desk.paths.database.write_bytes(b"broken")
    desk.index(recreate=True)
    assert desk.rows(desk.ids()) == before
    assert desk.hosts() == {"desk-1": None, "lap-1": "lap"}
    assert sync(desk, lap).sent == 0


@pytest.mark.parametrize("has_same_path", [True, False])
def test_a_session_that_this_machine_has_a_file_of_is_not_shown_twice(
    machines: Machines, has_same_path: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, lap = machines("desk", "lap")
    sync(desk, lap)
    with lap.world() as world:
        file = world.file("lap-1")
    home = lap.home if has_same_path else desk.home
    copy = home / file.path.relative_to(lap.home)
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(file.path.read_bytes())
    if has_same_path:  # the same folder, mounted on both machines
        desk = Machine(lap.home, monkeypatch, desk.paths.database)
    desk.index()
    assert sorted(desk.hosts().values(), key=str) == [None] * len(desk.hosts())
    assert len(desk.texts('"hello from lap"')) == 1
    assert (sync(lap, desk).sent, len(desk.texts('"hello from lap"'))) == (0, 1)
    [id] = [each["id"] for each in desk.sessions() if each["source_session_id"] == "lap-1"]
    before = desk.rows([id])
    desk.index(recreate=True)
    assert desk.rows([id]) == before


def test_an_export_is_one_file_with_every_session(machines: Machines, tmp_path: Path) -> None:
    desk, lap, phone = machines("desk", "lap", "phone")
    sync(desk, lap)
    file = tmp_path / "sessions.gz"
    assert archive.export(desk.stock(), file, SyncRequest()) == 2
    result, count = archive.import_from(phone.stock(), file)
    assert (result.received, result.refused, count) == (2, [], 2)
    phone.index()
    assert phone.hosts() == {"desk-1": "desk", "lap-1": "lap", "phone-1": None}
    assert phone.rows(desk.ids()) == desk.rows(desk.ids())
    assert archive.import_from(phone.stock(), file)[0].received == 0
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - 10])
    result, _ = archive.import_from(desk.stock(), file)
    assert len(result.refused) == 1
    assert "damaged" in result.refused[0]
    file.write_bytes(b"no export")
    with pytest.raises(BadBundle):
        archive.import_from(lap.stock(), file)


def test_an_index_of_an_earlier_version_gets_its_column(machines: Machines) -> None:
    [desk] = machines("desk")
    with database.writing(desk.paths, NOW) as connection:
        connection.execute("ALTER TABLE sessions DROP COLUMN host")
        connection.execute("UPDATE facts SET value = '{\"claude_code\": 1}' WHERE name = 'readers'")
    with desk.world() as world:
        [session] = world.rows("SELECT id FROM sessions")
        assert world.transcript(session[0]).session["host"] is None
        assert len(desk.stock().own) == 1
        world.index()
        assert world.rows("SELECT host FROM sessions") == [(None,)]


def head_of(host: Host, id: str = "ab" * 8, **values: object) -> Head:
    return msgspec.structs.replace(
        Head(host, id, 1, 0, "claude_code", source_session_id="x"), **values
    )


def offered(machine: Machine, data: bytes) -> SyncResult:
    """What becomes of a bundle that a peer sends."""
    result = receive(machine.stock(), data)
    if result.received:
        machine.index()
    return result


def receive(into: Stock, data: bytes) -> SyncResult:
    temporary = received.temporary_file(into.paths)
    temporary.write_bytes(data)
    result = SyncResult()
    into.receive(temporary, None, "it", result)
    return result


def written(head: Head, *rows: bundle.Row) -> bytes:
    file = io.BytesIO()
    bundle.write_bundle(file, head, rows)
    return file.getvalue()


STRANGER = Host("5a" * 8, "stranger")
HELLO = Message(0, "user", "hi", None, 0)


BAD_BUNDLES = {
    "empty": (b"", "empty"),
    "no gzip": (b"no gzip", "damaged"),
    "cut off": (written(head_of(STRANGER), HELLO)[:-9], "damaged"),
    "no head": (gzip.compress(b"{}\n"), "begin"),
    "deep": (gzip.compress(b'{"a":' * 5000), "begin"),
    "path as id": (written(head_of(STRANGER, id="../../../etc/cron"), HELLO), "ids"),
    "path as host": (written(head_of(Host("../..", "stranger")), HELLO), "ids"),
    "escape in name": (written(head_of(Host("5a" * 8, "a\x1b[2Jb")), HELLO), "ids"),
    "path as agent": (written(head_of(STRANGER, source="../x"), HELLO), "ids"),
    "long folder": (written(head_of(STRANGER, cwd="/" * 9999), HELLO), "begin"),
    "negative": (written(head_of(STRANGER), Message(-1, "user", "", None, 0)), "line 2"),
    "too high": (written(head_of(STRANGER), Message(2**40, "user", "", None, 0)), "line 2"),
    "too late": (written(head_of(STRANGER), Message(0, "user", "", None, 2**62)), "line 2"),
    "two": (written(head_of(STRANGER), HELLO) + written(head_of(STRANGER), HELLO), "lines"),
    "no end": (gzip.compress(gzip.decompress(written(head_of(STRANGER), HELLO))[:-11]), "end"),
    "later version": (
        gzip.compress(gzip.decompress(written(head_of(STRANGER))).replace(b":1}", b":9}")),
        "format",
    ),
}


def test_a_bundle_that_is_not_right_is_refused(machines: Machines) -> None:
    [desk] = machines("desk")
    held = desk.stock()
    for name, (data, problem) in BAD_BUNDLES.items():
        result = receive(held, data)
        assert (name, result.received) == (name, 0)
        assert problem in result.refused[0]
    assert desk.hosts() == {"desk-1": None}
    assert not [each for each in desk.paths.hosts.rglob("*") if each.name.endswith((".gz", ".tmp"))]


def test_a_bundle_larger_than_the_limits_is_refused(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    [desk] = machines("desk")
    monkeypatch.setattr(bundle, "LARGEST_CONTENT", 100_000)
    data = written(head_of(STRANGER), Message(0, "user", "a" * 200_000, None, 0))
    assert "larger" in offered(desk, data).refused[0]
    monkeypatch.setattr(bundle, "LARGEST_FILE", 10)
    assert "larger" in offered(desk, written(head_of(STRANGER), HELLO)).refused[0]


def test_a_session_that_is_too_large_does_not_stop_the_others(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk, lap = machines("desk", "lap")
    desk.say("large", *(os.urandom(400).hex() for _ in range(20)))
    monkeypatch.setattr(stock, "LARGEST_FILE", 2_000)
    assert sync(desk, lap).sent == 1
    own = desk.stock()
    assert len(list(own.bundles(own.offers(None, masked=False), masked=False))) == 2
    assert "too large" in own.problems[0]


def test_a_peer_can_not_replace_or_invent_sessions_of_this_machine(machines: Machines) -> None:
    [desk] = machines("desk")
    own, [id] = desk.stock().host, desk.ids()
    before = desk.rows([id])
    assert offered(desk, written(head_of(own, id=id, revision=10**15), HELLO)).received == 0
    assert "this machine" in offered(desk, written(head_of(own), HELLO)).refused[0]
    assert offered(desk, written(head_of(STRANGER, id=id, revision=10**15), HELLO)).received == 0
    assert desk.rows([id]) == before
    assert desk.hosts() == {"desk-1": None}


def test_a_machine_does_not_get_the_sessions_of_another_one(machines: Machines) -> None:
    [desk] = machines("desk")
    later = Message(1, "assistant", "yes", None, 5)
    moved = Host("6b" * 8, "moved")
    assert offered(desk, written(head_of(STRANGER), HELLO)).received == 1
    different = written(head_of(moved, revision=9), Message(0, "user", "other", None, 7))
    assert "a different session" in offered(desk, different).refused[0]
    assert desk.hosts() == {"desk-1": None, "x": "stranger"}
    # A machine that was set up anew goes on with its old sessions under a new id.
    assert offered(desk, written(head_of(moved, revision=9), HELLO, later)).received == 1
    assert desk.hosts() == {"desk-1": None, "x": "moved"}
    assert offered(desk, written(head_of(STRANGER, revision=99), HELLO)).received == 0
    assert desk.texts("hi") == ["hi"]
    assert desk.texts("yes") == ["yes"]


def test_two_machines_of_the_same_name_can_be_told_apart(machines: Machines) -> None:
    [desk] = machines("desk")
    for number, id in enumerate(("5a" * 8, "6b" * 8)):
        head = head_of(Host(id, "desk"), id=f"{number:016x}", source_session_id=f"s{number}")
        assert offered(desk, written(head, HELLO)).received == 1
    assert desk.hosts() == {"desk-1": None, "s0": "desk-5a5a", "s1": "desk-6b6b"}


def test_a_file_list_notices_new_bundles(machines: Machines) -> None:
    [desk] = machines("desk")
    assert offered(desk, written(head_of(STRANGER), HELLO)).received == 1
    [file] = bundles_of(desk, STRANGER.id)
    touch(file)
    with desk.world() as world:
        assert (world.index().indexed, world.index().indexed) == (1, 0)
