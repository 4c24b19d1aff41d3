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
"""Arguments with the folder in which relative paths start."""
PATCH_HEADING = r"\*\*\* (?:(?:Update|Add|Delete) File|Move to): *"
"""Stands in front of a path in a patch."""
LONGEST_PATH = 1_024
LONGEST_COMMAND = 2_000
"""Only this many bytes of a command are searched: a longer one is mostly an inline script."""

_arguments_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_value_decoder = msgspec.json.Decoder()
_PATCHED_FILE = re.compile(rf"^{PATCH_HEADING}(.+?)\s*$", re.MULTILINE)
_FILE_WORD = re.compile(
    rb"(?<![^\s'\"=<>(])((?:~?/)?(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9})(?=[\s'\":;,|&)>]|$)"
)


def touched_files(tool_input: bytes | None, command: bytes | None) -> list[str]:
    """The distinct paths that a call names. A shell command counts only if it contains a patch."""
    if not tool_input:
        return []
    has_patch = b"*** " in tool_input
    if command:
        if not has_patch:
            return []
        paths = _patched_files(command.decode("utf-8", "replace"))
    elif has_patch and tool_input.startswith(b'"'):
        return list(dict.fromkeys(_patched_files(_decoded(tool_input))))
    elif has_patch or b"ath" in tool_input or b"ile" in tool_input:  # `path`, `Path`, `file` …
        paths = []
    else:
        return []
    arguments = _decode_arguments(tool_input)
    for name, value in arguments.items():
        if name in PATH_ARGUMENTS:
            paths += _paths(_decoded(value))
        elif has_patch and name in PATCH_ARGUMENTS:
            paths += _patched_files(_decoded(value))
    return _joined_to_folder(arguments, list(dict.fromkeys(paths)))


def _joined_to_folder(arguments: dict[str, msgspec.Raw], paths: list[str]) -> list[str]:
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
    return list(
        dict.fromkeys(each.decode() for each in _FILE_WORD.findall(command[:LONGEST_COMMAND]))
    )


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
    """The paths in an argument: one, or a list; each may be wrapped in an object."""
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
    return [path for value in _PATCHED_FILE.findall(text) for path in _paths(value)]
