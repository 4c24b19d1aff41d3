"""Rules in Claude Code's settings are added and removed without other changes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from navi.vendors.claude_code.settings import NothingToUndo, plan_rules, plan_rules_undo
from navi.vendors.settings_file import SettingsChanged, UnusableSettings, UnwritableSettings

RULES = ("Bash(git status:*)", "Bash(npm test)")
GUARDS = {"Bash(git status:*)": ["Bash(* .env*)", "Bash(xargs *)"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


@pytest.fixture
def receipts(tmp_path: Path) -> Path:
    return tmp_path / "recall" / "permissions.json"


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
    file: Path, receipts: Path, layout: str
) -> None:
    file.write_bytes(layout.encode())
    before = json.loads(layout.lstrip("\ufeff") or "{}")
    change = plan_rules(file, RULES, {}, receipts)
    assert file.read_bytes() == layout.encode()
    change.write()

    after = json.loads(file.read_bytes().decode("utf-8-sig"))
    assert after["permissions"]["allow"][-2:] == list(RULES)
    kept = before.get("permissions", {}).get("allow", [])
    assert after["permissions"]["allow"] == [*kept, *RULES]
    after["permissions"]["allow"] = kept
    assert after == {**before, "permissions": {**before.get("permissions", {}), "allow": kept}}
    added = file.read_bytes().decode()
    # Nothing is lost: all earlier entries are there, in the same order.
    remaining = iter(added)
    assert all(sign in remaining for sign in layout)
    assert added.startswith("\ufeff") == layout.startswith("\ufeff")
    assert added.replace("\r\n", "").count("\n") == (0 if "\r\n" in layout else added.count("\n"))

    plan_rules_undo(receipts).write()
    assert file.read_bytes() == layout.encode()
    assert not receipts.exists()


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_guards_are_added_beside_the_rules_and_go_with_them(
    file: Path, receipts: Path, layout: str
) -> None:
    file.write_bytes(layout.encode())
    plan_rules(file, RULES, GUARDS, receipts).write()
    after = json.loads(file.read_bytes().decode("utf-8-sig"))["permissions"]
    assert after["allow"][-2:] == list(RULES)
    assert after["ask"] == ["Bash(* .env*)", "Bash(xargs *)"]
    remaining = iter(file.read_bytes().decode())
    assert all(sign in remaining for sign in layout)

    plan_rules_undo(receipts).write()
    assert file.read_bytes() == layout.encode()


def test_guards_are_removed_even_from_a_file_that_has_changed(file: Path, receipts: Path) -> None:
    file.write_text('{"permissions": {"ask": ["Bash(rm:*)"]}}')
    plan_rules(file, RULES, GUARDS, receipts).write()
    file.write_text(file.read_text().replace("Bash(rm:*)", "Bash(mv:*)"))
    plan_rules_undo(receipts).write()
    assert json.loads(file.read_text()) == {"permissions": {"ask": ["Bash(mv:*)"], "allow": []}}


@pytest.mark.parametrize("guards", [{}, {"guards": ["Bash(xargs *)"]}])
@pytest.mark.parametrize("before", [None, "{ }\n"])
@pytest.mark.parametrize("is_edited", [False, True])
def test_rules_added_by_an_earlier_version_can_be_undone(
    file: Path, receipts: Path, guards: dict[str, Any], before: str | None, is_edited: bool
) -> None:
    text = json.dumps({"permissions": {"allow": list(RULES), "ask": guards.get("guards", [])}})
    file.write_text(text + (" " if is_edited else ""))
    receipt = {
        "path": str(file),
        "rules": list(RULES),
        **guards,
        "before": None if before is None else before.encode().hex(),
        "after": hashlib.sha256(text.encode()).hexdigest(),
    }
    receipts.parent.mkdir()
    receipts.write_text(json.dumps([receipt]))

    plan_rules_undo(receipts).write()

    if is_edited:
        assert json.loads(file.read_text()) == {"permissions": {"allow": [], "ask": []}}
    else:
        assert (file.read_text() if file.exists() else None) == before
    assert not receipts.exists()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"path": "x"}]', "null"])
def test_receipts_that_are_damaged_are_an_error_and_stay(
    file: Path, receipts: Path, text: str
) -> None:
    receipts.parent.mkdir()
    receipts.write_text(text)
    with pytest.raises(UnusableSettings, match=r"permissions\.json"):
        plan_rules_undo(receipts)
    with pytest.raises(UnusableSettings, match=r"permissions\.json"):
        plan_rules(file, RULES, {}, receipts)
    assert receipts.read_text() == text


@pytest.mark.parametrize(
    "wider",
    ["Bash", "Bash(*)", "Bash(git:*)", "Bash(git *)", "Bash(git status *)", "Bash(git st*)"],
)
def test_what_a_wider_rule_covers_is_not_added(file: Path, receipts: Path, wider: str) -> None:
    file.write_text(json.dumps({"permissions": {"allow": [wider]}}))
    change = plan_rules(file, ["Bash(git status:*)", "Bash(git status -s)"], GUARDS, receipts)
    assert not change.is_needed


def test_a_narrower_rule_covers_nothing(file: Path, receipts: Path) -> None:
    file.write_text('{"permissions": {"allow": ["Bash(git status -s)", "Bash(git stat)", "Read"]}}')
    change = plan_rules(file, RULES[:1], {}, receipts)
    assert change.receipts[-1].added["allow"] == [*RULES[:1]]


def test_a_rule_of_an_earlier_version_gets_its_guards(file: Path, receipts: Path) -> None:
    file.write_text(json.dumps({"permissions": {"allow": list(RULES)}}))
    change = plan_rules(file, RULES, GUARDS, receipts)
    assert change.receipts[-1].added == {"allow": [], "ask": ["Bash(* .env*)", "Bash(xargs *)"]}


def test_a_read_only_file_is_not_replaced(file: Path, receipts: Path) -> None:
    file.write_text("{}")
    file.chmod(0o444)
    with pytest.raises(UnwritableSettings, match="read-only"):
        plan_rules(file, RULES, {}, receipts).write()
    assert file.read_text() == "{}"
    assert not receipts.exists()

    file.chmod(0o644)
    plan_rules(file, RULES, {}, receipts).write()
    file.chmod(0o444)
    with pytest.raises(UnwritableSettings, match="read-only"):
        plan_rules_undo(receipts).write()
    assert allowed(file) == list(RULES)


@contextmanager
def an_ordinary_user(folder: Path) -> Iterator[None]:
    """Root may write everywhere, and tests may run as root."""
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


def test_a_folder_that_may_not_be_written_is_an_error_in_words(
    tmp_path: Path, receipts: Path
) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    file = folder / "settings.json"
    plan_rules(file, RULES, {}, receipts).write()
    file.chmod(0o666)
    receipts.parent.chmod(0o777)
    receipts.chmod(0o666)
    folder.chmod(0o555)
    try:
        with an_ordinary_user(tmp_path):
            changes = [
                plan_rules(file, ["Bash(pwd)"], {}, receipts),
                plan_rules_undo(receipts),
            ]
            for change in changes:
                with pytest.raises(UnwritableSettings, match="permission denied") as caught:
                    change.write()
                assert "chmod" in (caught.value.hint or "")
        assert allowed(file) == list(RULES)
    finally:
        folder.chmod(0o755)


def test_a_rule_takes_the_look_of_the_list(file: Path, receipts: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    plan_rules(file, RULES, {}, receipts).write()
    assert file.read_text() == LAYOUTS["two spaces"].replace(
        '      "Read"\n', '      "Read",\n      "Bash(git status:*)",\n      "Bash(npm test)"\n'
    )


def test_the_difference_is_shown_before_anything_is_written(file: Path, receipts: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    diff = plan_rules(file, RULES[:1], {}, receipts).diff()
    assert '+      "Bash(git status:*)"' in diff
    assert '-      "Read"' in diff
    assert file.read_text() == LAYOUTS["two spaces"]


def test_what_is_allowed_already_is_not_added_again(file: Path, receipts: Path) -> None:
    file.write_text('{"permissions": {"allow": ["Bash(npm test)"]}}')
    change = plan_rules(file, [*RULES, *RULES], {}, receipts)
    assert change.receipts[-1].added["allow"] == ["Bash(git status:*)"]
    change.write()
    again = plan_rules(file, RULES, {}, receipts)
    assert not again.is_needed
    assert again.diff() == ""


def test_a_missing_file_is_made_and_goes_again(file: Path, receipts: Path) -> None:
    plan_rules(file, RULES, {}, receipts).write()
    assert allowed(file) == list(RULES)
    assert file.read_text().endswith("}\n")
    plan_rules_undo(receipts).write()
    assert not file.exists()


def test_undo_leaves_what_changed_since(file: Path, receipts: Path) -> None:
    file.write_text(LAYOUTS["two spaces"])
    plan_rules(file, RULES, {}, receipts).write()
    file.write_text(
        file.read_text().replace('"Read"', '"Read",\n      "Edit"').replace("1.50", "2")
    )
    plan_rules_undo(receipts).write()
    assert file.read_text() == LAYOUTS["two spaces"].replace(
        '"Read"', '"Read",\n      "Edit"'
    ).replace("1.50", "2")


def test_undo_goes_back_step_by_step(file: Path, receipts: Path) -> None:
    file.write_text("{}\n")
    for rule in RULES:
        plan_rules(file, [rule], {}, receipts).write()
    plan_rules_undo(receipts).write()
    assert allowed(file) == [RULES[0]]
    plan_rules_undo(receipts).write()
    assert file.read_text() == "{}\n"
    with pytest.raises(NothingToUndo):
        plan_rules_undo(receipts)


def test_a_rule_that_a_person_has_removed_since_is_not_an_obstacle(
    file: Path, receipts: Path
) -> None:
    plan_rules(file, RULES, {}, receipts).write()
    file.write_text('{"permissions": {"allow": ["Bash(npm test)"]}}')
    plan_rules_undo(receipts).write()
    assert allowed(file) == []


def test_a_file_that_changes_between_the_question_and_the_answer_is_not_touched(
    file: Path, receipts: Path
) -> None:
    file.write_text("{}")
    change = plan_rules(file, RULES, {}, receipts)
    file.write_text('{"model": "y"}')
    with pytest.raises(SettingsChanged):
        change.write()
    assert file.read_text() == '{"model": "y"}'
    assert not receipts.exists()


@pytest.mark.parametrize(
    "content",
    [
        *(b"{", b"// no\n{}", b"[]", b"\xff{}", b"[" * 100_000, b'{"permissions": []}'),
        *(b'{"permissions": null}', b'{"permissions": {"allow": "x"}}'),
    ],
    ids=lambda content: repr(content[:30]),
)
def test_a_file_that_is_not_understood_is_left_alone(
    file: Path, receipts: Path, content: bytes
) -> None:
    file.write_bytes(content)
    with pytest.raises(UnusableSettings) as caught:
        plan_rules(file, RULES, {}, receipts)
    assert str(file) in caught.value.message
    assert file.read_bytes() == content


def test_a_link_stays_a_link_and_rights_stay_the_same(
    tmp_path: Path, file: Path, receipts: Path
) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    real.chmod(0o640)
    file.symlink_to(real)
    plan_rules(file, RULES, {}, receipts).write()
    assert file.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert receipts.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to somebody else")
def test_a_file_keeps_its_owner(file: Path, receipts: Path) -> None:
    file.write_text("{}")
    os.chown(file, 65534, 65533)
    plan_rules(file, RULES, {}, receipts).write()
    assert (file.stat().st_uid, file.stat().st_gid) == (65534, 65533)


def test_a_link_to_a_file_that_does_not_exist_yet_stays(
    tmp_path: Path, file: Path, receipts: Path
) -> None:
    file.symlink_to(tmp_path / "dotfiles.json")
    plan_rules(file, RULES, {}, receipts).write()
    assert (tmp_path / "dotfiles.json").exists()
    plan_rules_undo(receipts).write()
    assert file.is_symlink()
    assert not file.exists()
