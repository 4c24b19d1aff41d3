"""`navi import-jobs`: import automations from a jobs.json file."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click

from navi.base.errors import InvalidInput, UsageError
from navi.cli import output

HELP = """Import automations from a jobs.json file. Needs no server; if one is running, it
picks them up.

A job bound to a session runs there. Unbound jobs, and jobs of kind `system_event`, run in the
background and deliver an answer only if it is worth reading. Heartbeat and dream jobs are not
imported, because Navi has its own; turn those on in the settings. Jobs that can't be read are
reported; the others are imported. The file is not changed, and importing it again creates no
duplicates.
"""


@click.command("import-jobs", help=HELP)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--session",
    "sessions",
    multiple=True,
    metavar="KEY=ID",
    help="Run the jobs that the file binds to KEY in the session with this ID. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, file: Path, sessions: tuple[str, ...], as_json: bool) -> None:
    from navi.live.runtime.scheduler.job_import import ImportResult, import_jobs

    ids_by_key = dict(_key_and_id(each) for each in sessions)
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"can't read {file}: {error}", hint="give the path of a jobs.json file"
        ) from error

    async def run() -> ImportResult:
        from navi.base.system_clock import SystemClock
        from navi.base.timezone import zone_name
        from navi.live.runtime import server_files, settings
        from navi.live.store.engine import schema
        from navi.live.store.engine.transactions import Store

        server_files.prepare_home()
        url = server_files.database_url()
        schema.prepare(url)
        store = Store(url)
        store.start()
        zone = zone_name(settings.timezone_of(settings.load()))
        try:
            return await import_jobs(store, SystemClock(), text, zone, ids_by_key)
        finally:
            await store.close()

    result = asyncio.run(run())
    if as_json:
        existing_ids = [each.id for each in result.existing]
        output.say_json(
            {
                "imported": [each.id for each in result.added],
                "already_imported": existing_ids,
                "known": existing_ids,  # the older name of the same list
                "refused": [{"job": each.job, "reason": each.reason} for each in result.refused],
                "notes": result.notes,
            }
        )
    else:
        for each in result.added:
            output.say(f"imported {each.name} ({each.id}), {each.category}")
        for each in result.existing:
            output.say(f"already imported: {each.name} ({each.id})")
        for refusal in result.refused:
            output.note(f"not imported: {refusal.job}: {refusal.reason}")
        for note in result.notes:
            output.note(f"note: {note}")
    if result.refused:
        context.exit(1)


def _key_and_id(text: str) -> tuple[str, str]:
    key, separator, session_id = text.partition("=")
    if not separator or not key or not session_id:
        raise UsageError(
            f"--session {text} is not KEY=ID", hint="for example --session old:42=1f2e3d4c"
        )
    return key, session_id
