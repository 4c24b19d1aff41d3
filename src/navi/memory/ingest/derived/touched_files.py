"""The files that a tool call reads, writes, edits or searches."""

from __future__ import annotations

import os
import re

import msgspec

from navi.memory.file_paths import path_term

PATH_ARGUMENTS = frozenset(
    (
        *("file_path", "path", "notebook_path", "filePath", "file", "filename", "fileName"),
        *("files", "paths", "file_paths", "filePaths", "dir_path", "target_file"),
        *("relative_path", "absolute_path", "old_path", "new_path", "source_path"),
        *("destination_path", "AbsolutePath", "TargetFile"),
    )
)
"""Arguments that contain paths."""
PATCH_ARGUMENTS = ("input", "patch", "patchText")
"""Arguments that may contain a patch."""
FOLDER_ARGUMENTS = ("workdir", "cwd")
"""Arguments that relative paths are relative to."""
LONGEST_PATH = 1_024
LONGEST_COMMAND = 2_000
"""Bytes of a command that are searched: what comes later is a script, not arguments."""

_arguments_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_value_decoder = msgspec.json.Decoder()
_PATCHED = re.compile(r"^\*\*\* (?:(?:Update|Add|Delete) File|Move to): *(.+?)\s*$", re.MULTILINE)
_WORD = re.compile(
    rb"(?<![^\s'\"=<>(])((?:~?/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9})(?=[\s'\":;,|&)>]|$)"
)


def touched_files(tool_input: bytes | None, command: bytes | None) -> list[str]:
    """The paths as written, each once. For a shell command, only those that it patches."""
    if not tool_input:
        return []
    has_patch = b"*** " in tool_input
    if command:
        if not has_patch:
            return []
        paths = _patched_files(command.decode("utf-8", "replace"))
    elif has_patch and tool_input.startswith(b'"'):
        return list(dict.fromkeys(_patched_files(_decoded(tool_input))))
    elif has_patch or b"ath" in tool_input or b"ile" in tool_input:
        paths = []
    else:
        return []
    arguments = _decode_arguments(tool_input)
    for name, value in arguments.items():
        if name in PATH_ARGUMENTS:
            paths += _paths(_decoded(value))
        elif has_patch and name in PATCH_ARGUMENTS:
            paths += _patched_files(_decoded(value))
    return _in_folder(arguments, list(dict.fromkeys(paths)))


def _in_folder(arguments: dict[str, msgspec.Raw], paths: list[str]) -> list[str]:
    """The paths, joined to the folder that the call names, if it names one."""
    for name in FOLDER_ARGUMENTS:
        if name in arguments:
            folder = _decoded(arguments[name])
            if isinstance(folder, str) and os.path.isabs(folder):
                return [os.path.join(folder, path) for path in paths]
    return paths


def files_in_command(command: bytes) -> list[str]:
    """The words of a shell command that look like files: those with an extension."""
    if b"." not in command:
        return []
    return list(dict.fromkeys(each.decode() for each in _WORD.findall(command[:LONGEST_COMMAND])))


def terms_of(paths: list[str]) -> list[str]:
    """The paths as terms of the full-text index."""
    return [term for term in map(path_term, paths) if term is not None]


def _decode_arguments(tool_input: bytes) -> dict[str, msgspec.Raw]:
    try:
        return _arguments_decoder.decode(tool_input)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}


def _decoded(value: bytes | msgspec.Raw) -> object:
    try:
        return _value_decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _paths(value: object) -> list[str]:
    """A path or several; each may be wrapped in an object."""
    if isinstance(value, str):
        value = value.strip()
        is_path = 0 < len(value) <= LONGEST_PATH and "\n" not in value and "\0" not in value
        is_path = is_path and ("://" not in value or value.startswith("file://"))
        return [value] if is_path and value != "." else []
    if isinstance(value, list):
        return [path for each in value for path in _paths(each)]
    if isinstance(value, dict):
        return [path for name in value if name in PATH_ARGUMENTS for path in _paths(value[name])]
    return []


def _patched_files(text: object) -> list[str]:
    if not isinstance(text, str):
        return []
    return [path for value in _PATCHED.findall(text) for path in _paths(value)]
