from __future__ import annotations

import asyncio
import os
import resource
import stat
import struct
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from navi.base.errors import InvalidInput, NaviError, NotAllowed, NotFound, TooLarge
from navi.live.model.tool import ToolContext
from navi.live.tools.files import filesystem
from navi.live.tools.files.filesystem import Filesystem
from navi.live.tools.files.folder import entry_at, explained_errors, locate, open_plain, replace
from tests.integration.tools.calls import run_tool


class Files:
    """Short calls of the tool."""

    def __init__(self, context: ToolContext, tool: Filesystem) -> None:
        self.context, self.tool = context, tool

    async def __call__(self, action: str, path: str | None = None, **arguments: Any) -> str:
        call = {"action": action, "path": path, **arguments}
        result = await run_tool(self.tool, self.context, call)
        assert not result.is_error
        return result.text


@pytest.fixture
def files(context: ToolContext) -> Files:
    return Files(context, Filesystem())


@pytest.fixture
def small(context: ToolContext) -> Files:
    tool = Filesystem(read_limit_bytes=20, list_limit_entries=2, edit_limit_bytes=100)
    return Files(context, tool)


CALLS: list[dict[str, Any]] = [
    {"action": "read"},
    {"action": "list"},
    {"action": "write", "content": "new"},
    {"action": "edit", "old_text": "secret", "new_text": "new"},
]
EACH_ACTION = pytest.mark.parametrize("call", CALLS, ids=lambda call: call["action"])


RACES = 2000
RACING: list[dict[str, Any]] = [
    {"action": "read", "path": "a/file"},
    {"action": "list", "path": "a"},
    {"action": "edit", "path": "a/file", "old_text": "outside", "new_text": "led astray"},
]


class TestWhatIsInside:
    @EACH_ACTION
    @pytest.mark.parametrize(
        "path", ["../secret", "a/../../secret", "{outside}/secret", "door", "far/secret"]
    )
    async def test_a_path_outside_the_folder_is_refused(
        self, files: Files, folder: Path, call: dict[str, Any], path: str
    ) -> None:
        outside = folder.parent
        (outside / "secret").write_text("secret")
        (folder / "a").mkdir()
        (folder / "door").symlink_to(outside / "secret")
        (folder / "far").symlink_to(outside)
        with pytest.raises(NotAllowed, match="outside the session's folder") as refusal:
            await files(**call | {"path": path.format(outside=outside)})
        assert str(folder) in refusal.value.hint
        assert (outside / "secret").read_text() == "secret"

    @pytest.mark.parametrize(
        "path", ["../new", "far/new", "far/deep/new", "dangling", "a/../../new"]
    )
    async def test_a_new_file_outside_the_folder_is_refused(
        self, files: Files, folder: Path, path: str
    ) -> None:
        outside = folder.parent / "outside"
        outside.mkdir()
        (folder / "far").symlink_to(outside)
        (folder / "dangling").symlink_to(outside / "new")
        with pytest.raises(NotAllowed):
            await files("write", path, content="x")
        assert list(outside.iterdir()) == []
        assert not (folder.parent / "new").exists()

    async def test_a_folder_whose_name_only_begins_alike_is_outside(
        self, files: Files, folder: Path
    ) -> None:
        sibling = folder.with_name(f"{folder.name}-2")
        sibling.mkdir()
        with pytest.raises(NotAllowed):
            await files("write", str(sibling / "a"), content="x")

    async def test_an_absolute_path_inside_is_fine(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("hello")
        assert await files("read", str(folder / "a")) == "hello"

    async def test_a_link_that_stays_inside_is_followed_and_kept(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("old")
        (folder / "link").symlink_to("a")
        await files("write", "link", content="new")
        assert (folder / "a").read_text() == "new"
        assert (folder / "link").is_symlink()

    async def test_the_folder_itself_may_be_reached_through_a_link(
        self, files: Files, folder: Path, context: ToolContext
    ) -> None:
        (folder / "a").write_text("hello")
        link = folder.with_name("link")
        link.symlink_to(folder)
        moved = ToolContext("s", link, "local", context.current_user_role, {})
        assert await Files(moved, Filesystem())("read", str(link / "a")) == "hello"

    @EACH_ACTION
    async def test_links_in_a_circle_are_refused(
        self, files: Files, folder: Path, call: dict[str, Any]
    ) -> None:
        (folder / "a").symlink_to("b")
        (folder / "b").symlink_to("a")
        with pytest.raises(NaviError):
            await files(**call | {"path": "a"})
        with pytest.raises(NaviError):
            await files(**call | {"path": "a/../../secret"})
        assert sorted(os.listdir(folder)) == ["a", "b"]

    async def test_a_device_is_refused_even_inside(self, context: ToolContext) -> None:
        devices = ToolContext("s", Path("/dev"), "local", context.current_user_role, {})
        with pytest.raises(InvalidInput, match="zero is a device"):
            await run_tool(Filesystem(), devices, {"action": "read", "path": "zero"})

    async def test_a_link_to_a_device_is_refused(self, files: Files, folder: Path) -> None:
        (folder / "zero").symlink_to("/dev/zero")
        with pytest.raises(NotAllowed):
            await files("read", "zero")

    @pytest.mark.parametrize("call", [CALLS[0], *CALLS[2:]], ids=lambda call: call["action"])
    async def test_a_named_pipe_is_refused_and_nobody_waits_for_it(
        self, files: Files, folder: Path, call: dict[str, Any]
    ) -> None:
        os.mkfifo(folder / "pipe")
        with pytest.raises(InvalidInput, match="pipe is a named pipe"):
            await files(**call | {"path": "pipe"})
        assert stat.S_ISFIFO((folder / "pipe").lstat().st_mode)

    @EACH_ACTION
    async def test_a_missing_session_folder_is_refused_and_not_made(
        self, files: Files, folder: Path, call: dict[str, Any]
    ) -> None:
        os.rmdir(folder)
        with pytest.raises(NotFound, match=r"session's folder .* does not exist"):
            await files(**call | {"path": "a"})
        assert folder.name not in os.listdir(folder.parent)

    async def test_a_name_that_is_too_long_is_refused_in_plain_words(self, files: Files) -> None:
        with pytest.raises(NaviError, match="File name too long"):
            await files("write", "x" * 300, content="")


class TestLinksThatChange:
    """A folder is swapped for a link that leads outside, between two looks at the path."""

    @pytest.fixture
    def outside(self, folder: Path) -> Path:
        outside = folder.parent / "outside"
        outside.mkdir()
        (outside / "file").write_text("outside")
        return outside

    @pytest.mark.parametrize("path", ["a/file", "a/b/file"])
    def test_a_folder_that_became_a_link_is_not_followed(
        self, folder: Path, outside: Path, path: str
    ) -> None:
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text("inside")
        location = locate(folder, path)
        (folder / "a").rename(folder / "was-a")
        (folder / "a").symlink_to(outside)
        for makes_folders in (False, True):
            with pytest.raises(InvalidInput, match="leads through"), explained_errors(path):
                with entry_at(location, makes_folders=makes_folders):
                    pass
        assert os.listdir(outside) == ["file"]

    def test_a_file_that_became_a_link_is_not_followed(self, folder: Path, outside: Path) -> None:
        (folder / "a").write_text("inside")
        location = locate(folder, "a")
        (folder / "a").unlink()
        (folder / "a").symlink_to(outside / "file")
        with entry_at(location) as place:
            with pytest.raises(InvalidInput, match="a is a symbolic link"):
                open_plain(place)
            with pytest.raises(InvalidInput, match="a is a symbolic link"):
                replace(place, b"new")
        assert (outside / "file").read_text() == "outside"

    def test_a_folder_that_is_swapped_while_it_is_used_stays_the_same(
        self, folder: Path, outside: Path
    ) -> None:
        (folder / "a").mkdir()
        (folder / "a" / "file").write_text("inside")
        with entry_at(locate(folder, "a/file")) as place:
            (folder / "a").rename(folder / "was-a")
            (folder / "a").symlink_to(outside)
            with open_plain(place) as file:
                assert file.read() == b"inside"
            replace(place, b"new")
        assert (folder / "was-a" / "file").read_text() == "new"
        assert os.listdir(outside) == ["file"]
        assert (outside / "file").read_text() == "outside"

    async def test_a_race_of_links_never_leads_outside(
        self, files: Files, folder: Path, outside: Path
    ) -> None:
        (folder / "a").mkdir()
        (folder / "a" / "file").write_text("inside")
        (folder / "link").symlink_to(outside)
        is_over = threading.Event()
        swaps = 0

        def swap() -> None:
            nonlocal swaps
            while not is_over.is_set():
                os.rename(folder / "a", folder / "was-a")
                os.rename(folder / "link", folder / "a")
                os.rename(folder / "a", folder / "link")
                os.rename(folder / "was-a", folder / "a")
                swaps += 1

        swapper = threading.Thread(target=swap)
        swapper.start()
        answers: Counter[str] = Counter()
        try:
            for _ in range(RACES):
                for call in RACING:
                    try:
                        answers[await files(**call)] += 1
                    except NaviError:
                        answers["refused"] += 1
        finally:
            is_over.set()
            swapper.join()
        assert swaps > 0
        assert answers["inside"] > 0
        assert not [answer for answer in answers if "outside" in answer]
        assert os.listdir(outside) == ["file"]
        assert (outside / "file").read_text() == "outside"


class TestRead:
    async def test_a_file_is_returned_as_it_is(self, files: Files, folder: Path) -> None:
        (folder / "größe 名.txt").write_bytes("ä\r\n€\n🎈".encode())
        assert await files("read", "größe 名.txt") == "ä\r\n€\n🎈"

    async def test_offset_and_limit_count_lines(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("1\n2\n3\n4\n")
        assert await files("read", "a", offset=3) == "3\n4\n"
        assert await files("read", "a", offset=2, limit=2) == (
            "2\n3\n\n[2 of 8 bytes are left: read on with offset=4]"
        )

    async def test_reading_on_at_each_suggested_offset_gives_the_whole_file(
        self, small: Files, folder: Path
    ) -> None:
        content = "".join(f"line {number}\n" for number in range(1, 11))
        (folder / "a").write_text(content)
        read, offset = "", 1
        for _ in range(20):
            text, _, note = (await small("read", "a", offset=offset)).partition("\n[")
            read += text
            if not note:
                break
            offset = int(note.removesuffix("]").split("offset=")[1])
        assert read == content
        assert offset > 1

    async def test_a_line_longer_than_the_limit_is_cut_and_said_to_be(
        self, small: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("€" * 10 + "\nnext\n")
        text = await small("read", "a")
        assert text == ("€€€€€€\n[line 1 is cut; 16 of 36 bytes are left: read on with offset=2]")
        assert await small("read", "a", offset=2) == "next\n"

    async def test_a_huge_file_of_one_line_is_cut(self, small: Files, folder: Path) -> None:
        (folder / "a").write_text("x" * 1_000_000)
        assert "999,980 of 1,000,000 bytes are left" in await small("read", "a")
        with pytest.raises(InvalidInput, match="ends at line 1"):
            await small("read", "a", offset=2)

    async def test_an_offset_behind_the_end_is_refused_with_the_number_of_lines(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("1\n2")
        for offset in (3, 9):
            with pytest.raises(InvalidInput, match="ends at line 2"):
                await files("read", "a", offset=offset)

    async def test_an_empty_file_is_said_to_be_empty(self, files: Files, folder: Path) -> None:
        (folder / "a").touch()
        assert await files("read", "a") == "(the file is empty)"

    async def test_a_binary_file_is_described(self, files: Files, folder: Path) -> None:
        (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
        assert await files("read", "a.png") == (
            "(a binary file of 108 bytes, not shown; "
            "it begins with 89 50 4e 47 0d 0a 1a 0a 00 00 00 00 00 00 00 00)"
        )

    async def test_undecodable_bytes_and_late_nuls_are_shown_as_marks(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_bytes(b"x" * 9000 + b"\0\xff")
        assert (await files("read", "a")).endswith("x\ufffd\ufffd")

    async def test_a_missing_file_is_named(self, files: Files) -> None:
        with pytest.raises(NotFound, match=r"there is no a/b\.txt"):
            await files("read", "a/b.txt")

    async def test_a_folder_is_refused_with_the_right_action(self, files: Files) -> None:
        with pytest.raises(InvalidInput, match="is a folder") as refusal:
            await files("read", ".")
        assert "list" in refusal.value.hint


class TestList:
    async def test_one_level_is_listed_in_order_with_sizes(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "b").mkdir()
        (folder / "b" / "deep").touch()
        (folder / "a.txt").write_text("x" * 1234)
        (folder / "c").symlink_to("a.txt")
        os.mkfifo(folder / "d")
        assert await files("list") == "a.txt  1,234 bytes\nb/\nc -> a.txt\nd  (a named pipe)"
        assert await files("list", "b") == "deep  0 bytes"

    async def test_a_long_list_is_cut_and_can_be_read_on(self, small: Files, folder: Path) -> None:
        for name in "edcba":
            (folder / name).mkdir()
        assert await small("list") == ("a/\nb/\n[3 of 5 entries are left: read on with offset=3]")
        assert await small("list", offset=3, limit=1) == (
            "c/\n[2 of 5 entries are left: read on with offset=4]"
        )
        assert await small("list", offset=4) == "d/\ne/"
        assert await small("list", offset=6) == "(the last entry is number 5)"

    async def test_odd_names_stay_on_their_line(self, files: Files, folder: Path) -> None:
        (folder / "a\nb").touch()
        (folder / os.fsdecode(b"z\xff")).touch()
        assert await files("list") == "a\\nb  0 bytes\nz\ufffd  0 bytes"

    async def test_an_empty_folder_is_said_to_be_empty(self, files: Files) -> None:
        assert await files("list") == "(the folder is empty)"

    async def test_a_file_is_not_a_folder(self, files: Files, folder: Path) -> None:
        (folder / "a").touch()
        with pytest.raises(InvalidInput, match="a is not a folder"):
            await files("list", "a")


class TestWrite:
    async def test_a_file_and_its_folders_are_made(self, files: Files, folder: Path) -> None:
        result = await files("write", "a/b/c.txt", content="ä\r\n\0")
        assert (folder / "a" / "b" / "c.txt").read_bytes() == b"\xc3\xa4\r\n\0"
        assert result == f"wrote 5 bytes to {folder}/a/b/c.txt"

    async def test_an_old_file_is_replaced_and_keeps_its_mode(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "run").write_text("a much longer old content")
        (folder / "run").chmod(0o751)
        await files("write", "run", content="new")
        assert (folder / "run").read_text() == "new"
        assert stat.S_IMODE((folder / "run").stat().st_mode) == 0o751

    async def test_a_new_file_gets_the_usual_mode(self, files: Files, folder: Path) -> None:
        await files("write", "a", content="")
        (folder / "usual").touch()
        assert (folder / "a").stat().st_mode == (folder / "usual").stat().st_mode

    async def test_what_it_makes_has_the_modes_that_the_person_is_used_to(
        self, files: Files, folder: Path, private_umask: None
    ) -> None:
        os.chmod(folder, 0o2750)  # a file created in a set-group-id folder gets the folder's group
        await files("write", "a/b/c", content="x")
        modes = [stat.S_IMODE((folder / path).stat().st_mode) for path in ("a", "a/b", "a/b/c")]
        assert modes == [0o2750, 0o2750, 0o640]

    async def test_where_a_folder_has_its_own_rules_they_hold(
        self, files: Files, folder: Path, private_umask: None
    ) -> None:
        set_default_modes(folder, 0o600)
        await files("write", "a", content="x")
        set_default_modes(folder, 0o660)
        await files("write", "b", content="x")
        modes = [stat.S_IMODE((folder / path).stat().st_mode) for path in ("a", "b")]
        assert modes == [0o600, 0o660]

    async def test_a_reader_of_the_old_file_still_sees_all_of_it(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("old content")
        with (folder / "a").open() as reader:
            await files("write", "a", content="new")
            assert reader.read() == "old content"

    async def test_nothing_but_the_file_is_left_behind(self, files: Files, folder: Path) -> None:
        await files("write", "a", content="x")
        (folder / "folder").mkdir()
        with pytest.raises(InvalidInput, match="folder is a folder"):
            await files("write", "folder", content="x")
        assert sorted(os.listdir(folder)) == ["a", "folder"]

    async def test_a_write_that_fails_halfway_leaves_the_old_file_and_nothing_else(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("old")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))  # as if the disk were full
        try:
            with pytest.raises(NaviError, match="a: File too large"):
                await files("write", "a", content="x" * 100_000)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert os.listdir(folder) == ["a"]
        assert (folder / "a").read_text() == "old"

    async def test_a_file_on_the_way_is_refused(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("x")
        for path in ("a/b", "a/b/c"):
            with pytest.raises(InvalidInput, match="leads through something that isn't one"):
                await files("write", path, content="x")
        assert (folder / "a").read_text() == "x"

    async def test_a_write_protected_file_is_refused(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("x")
        (folder / "a").chmod(0o444)
        with pytest.raises(NotAllowed, match="no permission for a"):
            await files("write", "a", content="y")
        assert (folder / "a").read_text() == "x"

    async def test_a_cancelled_write_is_over_when_the_call_is(
        self, files: Files, folder: Path
    ) -> None:
        with filesystem._change_lock:  # so that the write cannot finish yet
            call = asyncio.create_task(files("write", "a", content="new"))
            await asyncio.sleep(0)
            call.cancel()
            done, _ = await asyncio.wait({call}, timeout=0.1)
            assert not done
            assert not (folder / "a").exists()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (folder / "a").read_text() == "new"


class TestEdit:
    async def test_the_old_text_becomes_the_new_one(self, files: Files, folder: Path) -> None:
        (folder / "a").write_bytes("eins\nzwei ä\ndrei\n".encode())
        (folder / "a").chmod(0o640)
        result = await files("edit", "a", old_text="zwei ä\n", new_text="2\n")
        assert (folder / "a").read_bytes() == b"eins\n2\ndrei\n"
        assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o640
        assert result == f"replaced 1 time(s) in {folder}/a"

    async def test_a_text_that_occurs_more_than_once_is_refused_with_the_number(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("x x x")
        with pytest.raises(InvalidInput, match="occurs 3 times"):
            await files("edit", "a", old_text="x", new_text="y")
        assert (folder / "a").read_text() == "x x x"

    async def test_overlapping_occurrences_count_as_more_than_one(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_text("ababa")
        with pytest.raises(InvalidInput, match="occurs 2 times"):
            await files("edit", "a", old_text="aba", new_text="y")

    async def test_all_of_them_are_replaced_on_demand(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("x x x")
        result = await files("edit", "a", old_text="x", new_text="", replace_all=True)
        assert (folder / "a").read_text() == "  "
        assert "3 time(s)" in result

    async def test_a_text_that_does_not_occur_is_refused(self, files: Files, folder: Path) -> None:
        (folder / "a").write_text("x")
        for replace_all in (True, False):
            with pytest.raises(NotFound, match="does not occur"):
                await files("edit", "a", old_text="X", new_text="y", replace_all=replace_all)

    @pytest.mark.parametrize(("old", "message"), [("", "empty"), ("x", "the same")])
    async def test_an_edit_of_nothing_is_refused(
        self, files: Files, folder: Path, old: str, message: str
    ) -> None:
        (folder / "a").write_text("x")
        with pytest.raises(InvalidInput, match=message):
            await files("edit", "a", old_text=old, new_text="x")

    async def test_windows_line_endings_are_kept(self, files: Files, folder: Path) -> None:
        (folder / "a").write_bytes(b"1\r\n2\r\n3\r\n")
        await files("edit", "a", old_text="1\n2\n", new_text="1\n1.5\n2\n")
        await files("edit", "a", old_text="3", new_text="3\n4")
        await files("edit", "a", old_text="2\r\n", new_text="zwei\r\n")
        assert (folder / "a").read_bytes() == b"1\r\n1.5\r\nzwei\r\n3\r\n4\r\n"

    async def test_in_a_mixed_file_each_line_keeps_its_ending(
        self, files: Files, folder: Path
    ) -> None:
        (folder / "a").write_bytes(b"1\r\n2\r\n3\n4\n")
        await files("edit", "a", old_text="1\n2", new_text="eins\nzwei")
        await files("edit", "a", old_text="3\n4", new_text="drei\nvier")
        assert (folder / "a").read_bytes() == b"eins\r\nzwei\r\ndrei\nvier\n"

    async def test_bytes_that_are_not_utf8_survive(self, files: Files, folder: Path) -> None:
        (folder / "a").write_bytes(b"\xef\xbb\xbf\xff old \xfe")
        await files("edit", "a", old_text="old", new_text="new")
        assert (folder / "a").read_bytes() == b"\xef\xbb\xbf\xff new \xfe"

    async def test_a_huge_file_is_refused(self, small: Files, folder: Path) -> None:
        (folder / "a").write_text("x" * 101)
        with pytest.raises(TooLarge, match="more than 100 bytes"):
            await small("edit", "a", old_text="x", new_text="y", replace_all=True)

    async def test_parallel_edits_of_one_file_all_count(self, files: Files, folder: Path) -> None:
        words = [f"<{number}>" for number in range(30)]
        (folder / "a").write_text("".join(words))
        await asyncio.gather(
            *(files("edit", "a", old_text=word, new_text="done ") for word in words)
        )
        assert (folder / "a").read_text() == "done " * 30


def set_default_modes(folder: Path, mode: int) -> None:
    """An access control list that gives new files in the folder this mode, whatever the umask."""
    entries = [(1, mode >> 6), (4, mode >> 3), (32, mode)]  # owner, group, others
    acl = struct.pack("<I", 2)
    acl += b"".join(struct.pack("<HHI", kind, bits & 7, 0xFFFFFFFF) for kind, bits in entries)
    try:
        os.setxattr(folder, "system.posix_acl_default", acl)
    except (AttributeError, OSError):
        pytest.skip("no access control lists here")
