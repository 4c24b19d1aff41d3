"""The rules of the house, checked on the source itself: imports, maps, clocks, printing, names."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import navi

ROOT = Path(navi.__file__).parent

VALUES = {"base", "live.model", "memory.model"}
MAY_IMPORT: dict[str, set[str]] = {
    "base": set(),
    "permissions": {"base"},
    "client": VALUES,
    "live.model": {"base"},
    "memory.model": {"base"},
    "vendors": VALUES | {"permissions", "live.agents"},
    # Navi's own sessions are read through the store's code.
    "vendors.navi": VALUES | {"vendors", "live.store"},
    "memory": VALUES | {"permissions", "vendors"},
    "live.store": VALUES,
    "live.agents": VALUES,
    "live.tools": VALUES,
    "live.runtime": VALUES
    | {"permissions", "vendors", "memory", "live.store", "live.agents", "live.tools"},
    "live.api": VALUES | {"live.runtime", "live.tools"},
    "cli": VALUES | {"client", "memory", "vendors", "permissions"},
    # `navi serve` builds the server, and checks or prepares its store.
    "cli.navi": VALUES
    | {"cli", "client", "memory", "vendors", "permissions"}
    | {"live.runtime", "live.api", "live.store"},
}
CLOCKS = ("datetime.now", "datetime.utcnow", "date.today", "time.time")
CLOCK_READERS = {"navi.base.system_clock", "navi.hook"}
DATABASES = {"sqlalchemy", "alembic", "sqlite3", "pysqlite3", "psycopg", "duckdb", "tantivy"}
PRINTERS = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
LONGEST_FUNCTION = 60
PARTICIPLES = {"told", "known", "asked", "found", "given", "meant", "said", "shown"}


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of Navi, parsed."""
    files = {
        ".".join(["navi", *file.relative_to(ROOT).with_suffix("").parts]): file
        for file in ROOT.rglob("*.py")
    }
    return {module: ast.parse(file.read_text()) for module, file in files.items()}


def room_of(module: str) -> str | None:
    """The entry of MAY_IMPORT that a module falls under: the longest one that fits."""
    parts = module.split(".")[1:]
    candidates = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((room for room in candidates if room in MAY_IMPORT), None)


def imports_of(source: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from navi.live.runtime import settings` imports navi.live.runtime.settings.
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def calls_of(source: ast.Module) -> list[str]:
    return [ast.unparse(node.func) for node in ast.walk(source) if isinstance(node, ast.Call)]


def forbidden_imports(module: str, source: ast.Module) -> list[str]:
    own = room_of(module)
    if own is None:
        return []
    allowed = MAY_IMPORT[own] | {own, None}
    return [
        f"{module} imports {name}"
        for name in sorted(imports_of(source))
        if name.startswith("navi.") and room_of(name) not in allowed
    ]


def test_every_module_imports_only_what_its_room_may() -> None:
    violations = [
        line for name, source in modules().items() for line in forbidden_imports(name, source)
    ]
    assert violations == []


def test_a_forbidden_import_would_be_noticed() -> None:
    source = ast.parse("from navi.live.store.engine import tables")
    assert forbidden_imports("navi.live.model.culprit", source) == [
        "navi.live.model.culprit imports navi.live.store.engine.tables"
    ]
    assert forbidden_imports("navi.live.runtime.fine", source) == []


@pytest.mark.parametrize(
    "folder",
    [file.parent for file in sorted(ROOT.rglob("__init__.py")) if "migrations" not in file.parts],
    ids=lambda folder: str(folder.relative_to(ROOT)),
)
def test_every_package_has_a_map_of_its_files(folder: Path) -> None:
    words = (folder / "__init__.py").read_text().replace("`", " ").replace(",", " ").split()
    entries = {file.name for file in folder.glob("*.py") if file.name != "__init__.py"}
    entries |= {f"{file.parent.name}/" for file in folder.glob("*/__init__.py")}
    missing = sorted(entry for entry in entries if entry.rstrip(";.") not in words)
    assert missing == []
    stale = [
        word
        for word in words
        if word.endswith(".py") and "/" not in word and not (folder / word).exists()
    ]
    assert stale == []


def test_only_the_runtime_reads_the_clock() -> None:
    readers = [
        f"{module}: {call}"
        for module, source in modules().items()
        for call in calls_of(source)
        if call.endswith(CLOCKS)
        and room_of(module) != "live.runtime"
        and module not in CLOCK_READERS
    ]
    assert readers == []


def test_only_the_store_and_the_memory_know_databases() -> None:
    imports = [
        f"{module} imports {name}"
        for module, source in modules().items()
        for name in imports_of(source)
        if name.split(".")[0] in DATABASES
        and room_of(module) not in ("live.store", "memory")
        # Only the name of a type.
        and name != "sqlalchemy.Connection"
    ]
    assert imports == []


def asks_for_the_dialect(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return ast.unparse(node).endswith("dialect.name")
    is_question = isinstance(node, ast.Compare) or (
        isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".startswith")
    )
    return is_question and any(
        isinstance(each, ast.Constant) and str(each.value).startswith(("sqlite", "postgres"))
        for each in ast.walk(node)
    )


def test_only_the_dialects_ask_which_database_it_is() -> None:
    questions = [
        f"{module}: {ast.unparse(node)}"
        for module, source in modules().items()
        if not module.startswith("navi.live.store.engine.dialects.")
        for node in ast.walk(source)
        if asks_for_the_dialect(node)
    ]
    assert questions == []


@pytest.mark.parametrize(
    "line",
    [
        "if connection.dialect.name == 'postgresql': pass",
        "if self._store.dialect.name != 'sqlite': pass",
        "if url.startswith('postgresql:'): pass",
        "if url.startswith(('sqlite:', 'file:')): pass",
        "if kind == 'sqlite': pass",
    ],
)
def test_a_question_for_the_dialect_would_be_noticed(line: str) -> None:
    assert any(asks_for_the_dialect(node) for node in ast.walk(ast.parse(line)))


def platform_questions(source: ast.Module) -> list[str]:
    """Where a module asks which system this is, or reads what only Linux has."""
    names = [ast.unparse(node) for node in ast.walk(source) if isinstance(node, ast.Attribute)]
    texts = [node.value for node in ast.walk(source) if isinstance(node, ast.Constant)]
    paths = [text for text in texts if isinstance(text, str) and text.startswith("/proc/")]
    return [name for name in names if name == "sys.platform"] + paths


def test_only_the_platform_package_asks_which_system_this_is() -> None:
    questions = [
        f"{module}: {question}"
        for module, source in modules().items()
        if not module.startswith("navi.base.platform.")
        for question in platform_questions(source)
    ]
    assert questions == []


@pytest.mark.parametrize("line", ["open('/proc/1/stat')", "open(f'/proc/{pid}')", "sys.platform"])
def test_a_question_for_the_system_would_be_noticed(line: str) -> None:
    assert platform_questions(ast.parse(line))


def test_only_the_output_module_prints() -> None:
    prints = [
        f"{module}: {call}"
        for module, source in modules().items()
        for call in calls_of(source)
        if call in PRINTERS and module != "navi.cli.output"
    ]
    assert prints == []


def test_modules_run_as_processes_only_by_a_command_that_ignores_the_current_folder() -> None:
    culprits = [
        module
        for module, source in modules().items()
        for node in ast.walk(source)
        if isinstance(node, ast.List | ast.Tuple) and module != "navi.base.python_command"
        if "sys.executable" in map(ast.unparse, node.elts) and "'-m'" in map(ast.unparse, node.elts)
    ]
    assert culprits == []


def identifiers_of(source: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(source):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                names.add(name)
            case ast.ClassDef(name=name):
                names.add(name)
    return names


def test_no_value_is_named_after_a_participle() -> None:
    culprits = [
        f"{module}: {name}"
        for module, source in modules().items()
        for name in sorted(identifiers_of(source))
        if name.strip("_").lower() in PARTICIPLES
    ]
    assert culprits == []


def test_no_function_is_longer_than_a_screen() -> None:
    functions = [
        (module, node.name)
        for module, source in modules().items()
        if ".migrations." not in module
        for node in ast.walk(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert functions == []
