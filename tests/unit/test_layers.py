"""Who may import whom: the layers of the architecture, checked on the source itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import navi

ROOT = Path(navi.__file__).parent

MAY_IMPORT: dict[str, set[str]] = {
    "domain": set(),
    "store": {"domain"},
    "agents": {"domain"},
    "tools": {"domain"},
    "sources": {"domain"},
    # Navi's own sessions are read through the store's code.
    "sources/navi": {"domain", "sources", "store"},
    "index": {"domain", "sources"},
    "runtime": {"domain", "store", "agents", "tools", "index", "runtime/system_clock"},
    # The real time, which the commands that need no server pass in as well.
    "runtime/system_clock": set(),
    "api": {"domain", "runtime"},
    "client": {"domain"},
    "mcp": {"domain", "client", "tools"},
    "cli": {"domain"},
    "cli/sm": {"cli", "domain", "client", "tools", "runtime/system_clock"},
    "cli/recall": {"cli", "domain", "index", "client", "runtime/system_clock"},
    # The command that runs the server builds it, and checks or prepares its store.
    "cli/navi": {
        "cli",
        "domain",
        "runtime",
        "runtime/system_clock",
        "api",
        "store",
        "index",
        "mcp",
        "client",
    },
}
CLOCKS = ("datetime.now", "datetime.utcnow", "date.today", "time.time")
DATABASES = {"sqlalchemy", "alembic", "sqlite3", "pysqlite3", "psycopg", "duckdb", "tantivy"}
PRINTERS = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}


def sources() -> dict[str, ast.Module]:
    """Every module of Navi, parsed."""
    files = {
        ".".join(["navi", *file.relative_to(ROOT).with_suffix("").parts]): file
        for file in ROOT.rglob("*.py")
    }
    return {module: ast.parse(file.read_text()) for module, file in files.items()}


def layer_of(module: str) -> str:
    parts = module.split(".")[1:]
    folder = "/".join(parts[:2])
    return folder if folder in MAY_IMPORT else "".join(parts[:1])


def imports_of(source: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            # `from navi.runtime import settings` imports the module navi.live.runtime.settings.
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def calls_of(source: ast.Module) -> list[str]:
    return [ast.unparse(node.func) for node in ast.walk(source) if isinstance(node, ast.Call)]


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


def forbidden_imports(module: str, source: ast.Module) -> list[str]:
    own = layer_of(module)
    if own not in MAY_IMPORT:
        return []
    return [
        f"{module} imports {name}"
        for name in sorted(imports_of(source))
        if name.startswith("navi.") and layer_of(name) not in MAY_IMPORT[own] | {own, "__version__"}
    ]


def test_every_module_imports_only_what_its_layer_may() -> None:
    found = [line for name, source in sources().items() for line in forbidden_imports(name, source)]
    assert found == []


def test_a_forbidden_import_would_be_seen() -> None:
    source = ast.parse("from navi.store import tables")
    assert forbidden_imports("navi.domain.culprit", source) == [
        "navi.domain.culprit imports navi.live.store.engine.tables"
    ]
    assert forbidden_imports("navi.runtime.fine", source) == []


def test_only_the_runtime_reads_the_clock() -> None:
    found = [
        f"{module}: {call}"
        for module, source in sources().items()
        for call in calls_of(source)
        if call.endswith(CLOCKS)
        and not layer_of(module).startswith("runtime")
        # Run by agents, alone: it says when it was.
        and module != "navi.hook"
    ]
    assert found == []


def test_only_the_store_and_the_index_know_databases() -> None:
    found = [
        f"{module} imports {name}"
        for module, source in sources().items()
        for name in imports_of(source)
        if name.split(".")[0] in DATABASES
        and layer_of(module) not in ("store", "index")
        # Only the name of a type.
        and (module, name) != ("navi.sources.navi", "sqlalchemy.Connection")
    ]
    assert found == []


def test_only_the_dialects_ask_which_database_it_is() -> None:
    culprits = [
        f"{module}: {ast.unparse(node)}"
        for module, source in sources().items()
        if not module.startswith("navi.live.store.engine.dialects.")
        for node in ast.walk(source)
        if asks_for_the_dialect(node)
    ]
    assert culprits == []


@pytest.mark.parametrize(
    "line",
    [
        "if connection.dialect.name == 'postgresql': pass",
        "if self._store.dialect.name != 'sqlite': pass",
        "if dialect.name == 'sqlite': pass",
        "if url.startswith('postgresql:'): pass",
        "if url.startswith(('sqlite:', 'file:')): pass",
        "if kind == 'sqlite': pass",
    ],
)
def test_a_question_for_the_dialect_would_be_seen(line: str) -> None:
    assert any(asks_for_the_dialect(node) for node in ast.walk(ast.parse(line)))


def test_only_the_output_module_prints() -> None:
    found = [
        f"{module}: {call}"
        for module, source in sources().items()
        for call in calls_of(source)
        if call in PRINTERS and module != "navi.cli.output"
    ]
    assert found == []
