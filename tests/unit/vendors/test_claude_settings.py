"""Rules in Claude Code's settings: added and taken away, with nothing else changed."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navi.index.claude_settings import (
    NothingToUndo,
    SettingsChanged,
    UnreadableSettings,
    UnwritableSettings,
    plan_adding,
    plan_undoing,
    write_adding,
    write_undoing,
)
from navi.index.json_text import JsonText

RULES = ("Bash(git status:*)", "Bash(npm test)")
GUARDS = {"Bash(git status:*)": ["Bash(* .env*)", "Bash(xargs *)"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


@pytest.fixture
def note(tmp_path: Path) -> Path:
    return tmp_path / "recall" / "added.json"


def allowed(file: Path) -> Any:
    return json.loads(file.read_bytes().decode("utf-8-sig"))["permissions"]["allow"]


LAYOUTS = {
    "two spaces": '{\n  "model": "x",\n  "permissions": {\n    "allow": [\n      "Read"\n    ],\n'
    '    "deny": []\n  },\n  "a": 1.50\n}\n',
    "tabs without a last line end": '{\n\t"permissions": {\n\t\t"allow": [\n'
    '\t\t\t"Read"\n\t\t]\n\t}\n}',
    "windows with a byte order mark": '\ufeff{\r\n  "permissions": {\r\n    "allow": [\r\n'
    '      "Read"'
    "\r\n    ]\r\n  }\r\n}\r\n",
    "one line": '{"z": 1, "permissions": {"allow": ["Read"], "deny": ["x"]}}',
    "no spaces": '{"permissions":{"allow":["Read"]}}',
    "a list on one line": '{\n  "permissions": {\n    "allow": ["Edit", "Read"]\n  }\n}\n',
    "an empty list": '{\n    "permissions": {\n        "allow": []\n    }\n}\n',
    "no list": '{\n  "permissions": {\n    "deny": []\n  }\n}\n',
    "empty permissions": '{\n  "permissions": {}\n}\n',
    "no permissions": '{\n  "env": {"A": "]}\\"{["},\n  "x": [1, {"y": []}]\n}\n',
    "an empty object": "{}",
    "an empty object with a line end": "{}\n",
    "an empty file": "",
    "escapes and other scripts": '{"permissions": {"allow": ["Bash(echo \\"ü\\\\\\")"]}, '
    '"é": "日本"}',
    "the name twice": '{"permissions": {"allow": ["a"]}, "permissions": {"allow": ["b"]}}',
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_rules_are_added_and_everything_else_keeps_every_byte(
    file: Path, note: Path, layout: str
) -> None:
    file.write_bytes(layout.encode())
    before = json.loads(layout.lstrip("\ufeff") or "{}")
    change = plan_adding(file, RULES)
    assert file.read_bytes() == layout.encode()
    write_adding(change, note)

    after = json.loads(file.read_bytes().decode("utf-8-sig"))
    assert after["permissions"]["allow"][-2:] == list(RULES)
    kept = before.get("permissions", {}).get("allow", [])
    assert after["permissions"]["allow"] == [*kept, *RULES]
    after["permissions"]["allow"] = kept
    assert after == {**before, "permissions": {**before.get("permissions", {}), "allow": kept}}
    added = file.read_bytes().decode()
    # Nothing is lost: what was there is still there, in the same order.
    remaining = iter(added)
    assert all(sign in remaining for sign in layout)
    assert added.startswith("\ufeff") == layout.startswith("\ufeff")
    assert added.replace("\r\n", "").count("\n") == (0 if "\r\n" in layout else added.count("\n"))

    write_undoing(plan_undoing(note), note)
    assert file.read_bytes() == layout.encode()
    assert not note.exists()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_guards_are_added_beside_the_rules_and_go_with_them(
    file: Path, note: Path, layout: str
) -> None:
    file.write_bytes(layout.encode())
    write_adding(plan_adding(file, RULES, GUARDS), note)
    after = json.loads(file.read_bytes().decode("utf-8-sig"))["permissions"]
    assert after["allow"][-2:] == list(RULES)
    assert after["ask"] == ["Bash(* .env*)", "Bash(xargs *)"]
    remaining = iter(file.read_bytes().decode())
    assert all(sign in remaining for sign in layout)

    write_undoing(plan_undoing(note), note)
    assert file.read_bytes() == layout.encode()


def test_guards_go_also_from_a_file_that_changed_since(file: Path, note: Path) -> None:
    file.write_text('{"permissions": {"ask": ["Bash(rm:*)"]}}')
    write_adding(plan_adding(file, RULES, GUARDS), note)
    file.write_text(file.read_text().replace("Bash(rm:*)", "Bash(mv:*)"))
    write_undoing(plan_undoing(note), note)
    assert json.loads(file.read_text()) == {"permissions": {"ask": ["Bash(mv:*)"], "allow": []}}


def test_a_note_of_an_earlier_version_has_no_guards(file: Path, note: Path) -> None:
    write_adding(plan_adding(file, RULES), note)
    (noted,) = json.loads(note.read_text())
    del noted["guards"]
    note.write_text(json.dumps([noted]))
    write_undoing(plan_undoing(note), note)
    assert not file.exists()


@pytest.mark.parametrize(
    "wider",
    ["Bash", "Bash(*)", "Bash(git:*)", "Bash(git *)", "Bash(git status *)", "Bash(git st*)"],
)
def test_what_a_wider_rule_covers_is_not_added(file: Path, wider: str) -> None:
    file.write_text(json.dumps({"permissions": {"allow": [wider]}}))
    change = plan_adding(file, ["Bash(git status:*)", "Bash(git status -s)"], GUARDS)
    assert not change.is_needed


def test_a_narrower_rule_covers_nothing(file: Path) -> None:
    file.write_text('{"permissions": {"allow": ["Bash(git status -s)", "Bash(git stat)", "Read"]}}')
    assert plan_adding(file, RULES[:1]).rules == RULES[:1]


def test_a_rule_of_an_earlier_version_gets_its_guards(file: Path) -> None:
    file.write_text(json.dumps({"permissions": {"allow": list(RULES)}}))
    change = plan_adding(file, RULES, GUARDS)
    assert (change.rules, change.guards) == ((), ("Bash(* .env*)", "Bash(xargs *)"))


def test_a_read_only_file_is_not_replaced(file: Path, note: Path) -> None:
    file.write_text("{}")
    file.chmod(0o444)
    with pytest.raises(UnwritableSettings, match="read-only"):
        write_adding(plan_adding(file, RULES), note)
    assert file.read_text() == "{}"
    assert not note.exists()

    file.chmod(0o644)
    write_adding(plan_adding(file, RULES), note)
    file.chmod(0o444)
    with pytest.raises(UnwritableSettings, match="read-only"):
        write_undoing(plan_undoing(note), note)
    assert allowed(file) == list(RULES)


@contextmanager
def an_ordinary_user(folder: Path) -> Iterator[None]:
    """Root may write everywhere; the tests of some machines run as root."""
    if os.geteuid() != 0:
        yield
        return
    folders = [folder, *folder.parents]
    modes = [each.stat().st_mode for each in folders]
    for each in folders:
        each.chmod(each.stat().st_mode | 0o011)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
        for each, mode in zip(folders, modes, strict=True):
            each.chmod(mode)


def test_a_folder_that_may_not_be_written_is_an_error_in_words(tmp_path: Path, note: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    file = folder / "settings.json"
    write_adding(plan_adding(file, RULES), note)
    file.chmod(0o666)
    note.parent.chmod(0o777)
    note.chmod(0o666)
    folder.chmod(0o555)
    try:
        with an_ordinary_user(tmp_path):
            for change, write in [
                (plan_adding(file, ["Bash(pwd)"]), write_adding),
                (plan_undoing(note), write_undoing),
            ]:
                with pytest.raises(UnwritableSettings, match="permission denied") as caught:
                    write(change, note)
                assert "chmod" in (caught.value.hint or "")
        assert allowed(file) == list(RULES)
    finally:
        folder.chmod(0o755)


def test_a_rule_takes_the_look_of_the_list(file: Path, note: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    write_adding(plan_adding(file, RULES), note)
    assert file.read_text() == LAYOUTS["two spaces"].replace(
        '      "Read"\n', '      "Read",\n      "Bash(git status:*)",\n      "Bash(npm test)"\n'
    )


def test_the_difference_is_shown_before_anything_is_written(file: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    diff = plan_adding(file, RULES[:1]).diff()
    assert '+      "Bash(git status:*)"\n' in diff
    assert '-      "Read"\n' in diff
    assert file.read_text() == LAYOUTS["two spaces"]


def test_what_is_allowed_already_is_not_added_again(file: Path, note: Path) -> None:
    file.write_text('{"permissions": {"allow": ["Bash(npm test)"]}}')
    change = plan_adding(file, [*RULES, *RULES])
    assert change.rules == ("Bash(git status:*)",)
    write_adding(change, note)
    again = plan_adding(file, RULES)
    assert not again.is_needed
    assert again.diff() == ""


def test_a_missing_file_is_made_and_goes_again(file: Path, note: Path) -> None:
    write_adding(plan_adding(file, RULES), note)
    assert allowed(file) == list(RULES)
    assert file.read_text().endswith("}\n")
    write_undoing(plan_undoing(note), note)
    assert not file.exists()


def test_undo_leaves_what_changed_since(file: Path, note: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    write_adding(plan_adding(file, RULES), note)
    file.write_text(
        file.read_text().replace('"Read"', '"Read",\n      "Edit"').replace("1.50", "2")
    )
    write_undoing(plan_undoing(note), note)
    assert file.read_text() == LAYOUTS["two spaces"].replace(
        '"Read"', '"Read",\n      "Edit"'
    ).replace("1.50", "2")


def test_undo_goes_back_step_by_step(file: Path, note: Path) -> None:
    file.write_text("{}\n")
    for rule in RULES:
        write_adding(plan_adding(file, [rule]), note)
    write_undoing(plan_undoing(note), note)
    assert allowed(file) == [RULES[0]]
    write_undoing(plan_undoing(note), note)
    assert file.read_text() == "{}\n"
    with pytest.raises(NothingToUndo):
        plan_undoing(note)


def test_a_rule_that_a_person_took_away_meanwhile_is_no_obstacle(file: Path, note: Path) -> None:
    write_adding(plan_adding(file, RULES), note)
    file.write_text('{"permissions": {"allow": ["Bash(npm test)"]}}')
    change = plan_undoing(note)
    assert change.rules == ("Bash(npm test)",)
    write_undoing(change, note)
    assert allowed(file) == []


def test_a_file_that_changes_between_the_question_and_the_answer_is_not_touched(
    file: Path, note: Path
) -> None:
    file.write_text("{}")
    change = plan_adding(file, RULES)
    file.write_text('{"model": "y"}')
    with pytest.raises(SettingsChanged):
        write_adding(change, note)
    assert file.read_text() == '{"model": "y"}'
    assert not note.exists()


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"// no\n{}", b"[]", b"\xff{}", b"[" * 100_000, b'{"permissions": []}'),
        *(b'{"permissions": null}', b'{"permissions": {"allow": "x"}}'),
    ],
    ids=lambda content: repr(content[:30]),
)
def test_a_file_that_is_not_understood_is_left_alone(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(UnreadableSettings) as caught:
        plan_adding(file, RULES)
    assert str(file) in caught.value.message
    assert file.read_bytes() == content


def test_a_link_stays_a_link_and_rights_stay_the_same(
    tmp_path: Path, file: Path, note: Path
) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    file.symlink_to(real)
    write_adding(plan_adding(file, RULES), note)
    assert file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert note.stat().st_mode & 0o777 == 0o600


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text(max_size=4), values, max_size=3),
    st.none() | st.lists(st.text(max_size=5), max_size=3),
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
)
def test_any_settings_keep_their_meaning(
    others: dict[str, Any], allow: list[str] | None, indent: Any, is_ascii: bool
) -> None:
    before = {**others}
    before.pop("permissions", None)
    if allow is not None:
        before["permissions"] = {"allow": allow}
    text = json.dumps(before, indent=indent, ensure_ascii=is_ascii)
    after = JsonText(text).with_items(("permissions", "allow"), ["x*", "ü"])
    assert json.loads(after.text) == {
        **before,
        "permissions": {"allow": [*(allow or []), "x*", "ü"]},
    }
    back = after.without_item(("permissions", "allow"), "ü")
    back = back.without_item(("permissions", "allow"), "x*")
    assert json.loads(back.text) == {**before, "permissions": {"allow": allow or []}}
