"""Installs a model: gets it, converts it, checks that it works, and only then puts it in place."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import datetime
from hashlib import file_digest
from pathlib import Path
from tempfile import mkdtemp

from navi.base.errors import NotFound
from navi.memory.index_paths import IndexPaths
from navi.memory.ingest import index_lock
from navi.memory.semantic.model import wheel
from navi.memory.semantic.model.local_model import LocalModel, require_packages
from navi.memory.semantic.model.model_files import (
    DESCRIPTION,
    MODEL,
    TOKENIZER,
    InstalledModel,
    describe,
    installed_model,
    model_folder,
)
from navi.memory.semantic.semantic_errors import ModelUnusable

WEIGHTS, CONFIG = "model.safetensors", "config.json"
FILES = (WEIGHTS, CONFIG, TOKENIZER)
FREE_BYTES = 400_000_000
"""For the wheel, the weights and the converted model at the same time."""
SENTENCE = "A man is eating food."
SIMILAR = "A man is eating a piece of bread."
DIFFERENT = "The disk of the build server is full."
LEAST_DIFFERENCE = 0.1
SIMILARITY = (0.70, 0.81)
"""The range for the first two sentences with the pinned weights: .755 before the conversion."""

Report = Callable[[str], None]


def install(
    paths: IndexPaths, source: Path | None, now: datetime, report: Report
) -> InstalledModel:
    """Install the pinned model, or the one in `source`: a wheel or a folder."""
    require_packages()
    paths.prepare()
    paths.models.mkdir(mode=0o700, exist_ok=True)
    with index_lock.exclusive(paths.models / "lock", "recall model install", now):
        _remove_leftovers(paths)
        _require_space(paths.models)
        work = Path(mkdtemp(prefix="new-", dir=paths.models))
        try:
            files, origin = _get(source, work / "files", report)
            new = work / "model"
            new.mkdir()
            model = _convert(files, new, origin, report)
            report("checking that it works")
            _check(model)
            _put_in_place(new, model_folder(paths))
        finally:
            shutil.rmtree(work, ignore_errors=True)
    installed = installed_model(paths)
    assert installed is not None
    return installed


def _get(source: Path | None, folder: Path, report: Report) -> tuple[Path, str]:
    """The folder with the model's files, and where they came from."""
    if source is None:
        report(f"getting {wheel.PACKAGE} {wheel.VERSION} ({wheel.MEGABYTES} MB)")
        wheel.unpack_from_index(folder)
        return _folder_in(folder), f"{wheel.PACKAGE} {wheel.VERSION}"
    if source.is_dir():
        return _folder_in(source), str(source)
    if not source.exists():
        raise NotFound(f"{source} does not exist", hint="give a wheel, or a folder with a model")
    report(f"unpacking {source.name}")
    folder.mkdir()
    _unpack(source, folder)
    return folder, source.name


def _unpack(path: Path, folder: Path) -> None:
    """Extract only the three files that are needed. No path in the wheel is used."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if name.rpartition("/")[2] == WEIGHTS]
            if not inside:
                raise ModelUnusable(f"{path} contains no {WEIGHTS}", hint=wheel.OFFLINE_HINT)
            beginning = inside[0].removesuffix(WEIGHTS)
            for name in FILES:
                with archive.open(beginning + name) as member, open(folder / name, "wb") as file:
                    shutil.copyfileobj(member, file)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise ModelUnusable(
            f"{path} can't be unpacked: {error}", hint=wheel.OFFLINE_HINT
        ) from error


def _folder_in(folder: Path) -> Path:
    for path in [folder / WEIGHTS, *sorted(folder.rglob(WEIGHTS))]:
        if all((path.parent / name).is_file() for name in FILES):
            return path.parent
    raise ModelUnusable(
        f"{folder} has no model: it needs {', '.join(FILES)}",
        hint="a model that sentence-transformers can load has them",
    )


def _convert(files: Path, new: Path, origin: str, report: Report) -> InstalledModel:
    from navi.memory.semantic.model.conversion import convert
    from navi.memory.semantic.model.weights import read_weights

    with open(files / WEIGHTS, "rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
    is_pinned = sha256 == wheel.WEIGHTS_SHA256
    if origin == f"{wheel.PACKAGE} {wheel.VERSION}" and not is_pinned:
        raise ModelUnusable("the weights in the wheel are not the expected ones")
    report("converting it to 8-bit integers")
    try:
        config = json.loads((files / CONFIG).read_bytes())
        weights = read_weights(files / WEIGHTS)
        heads = int(config["num_attention_heads"])
        (new / MODEL).write_bytes(convert(weights, heads, float(config["layer_norm_eps"])))
        dimensions = weights["embeddings.position_embeddings.weight"].shape[1]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ModelUnusable(
            f"the model in {files} can't be converted: {error}",
            hint="it has to be a BERT encoder, such as all-MiniLM-L6-v2",
        ) from error
    shutil.copyfile(files / TOKENIZER, new / TOKENIZER)
    name = wheel.MODEL_NAME if is_pinned else files.name
    model = InstalledModel(new, name, dimensions, origin, sha256)
    describe(new, model)
    return model


def _check(model: InstalledModel) -> None:
    """Sentences that mean the same have to be more similar than others."""
    vectors = LocalModel(model).embed([SENTENCE, SIMILAR, DIFFERENT])
    similar, different = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    low, high = SIMILARITY
    is_as_expected = model.sha256 != wheel.WEIGHTS_SHA256 or low < similar < high
    if not is_as_expected or not similar > different + LEAST_DIFFERENCE:
        raise ModelUnusable(
            "the converted model does not tell similar sentences from others "
            f"({similar:.2f} and {different:.2f})",
            hint="use a model made for sentences, such as all-MiniLM-L6-v2",
        )


def _put_in_place(new: Path, folder: Path) -> None:
    for path in new.iterdir():
        with open(path, "rb") as file:
            os.fsync(file.fileno())
    old = folder.with_name("old")
    if folder.exists():
        os.replace(folder, old)
    os.replace(new, folder)
    shutil.rmtree(old, ignore_errors=True)


def _remove_leftovers(paths: IndexPaths) -> None:
    """Clean up after an installation that was killed."""
    folder = model_folder(paths)
    old = folder.with_name("old")
    if (old / DESCRIPTION).exists() and not folder.exists():
        os.replace(old, folder)
    for path in [old, *paths.models.glob("new-*")]:
        shutil.rmtree(path, ignore_errors=True)


def _require_space(folder: Path) -> None:
    if shutil.disk_usage(folder).free < FREE_BYTES:
        raise ModelUnusable(
            f"{folder} has less than {FREE_BYTES // 1_000_000} MB of free space",
            hint="the model itself will take 24 MB; the rest is only needed to install it",
        )
