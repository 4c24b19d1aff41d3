"""`sm budget`: show, set or remove budgets of tokens or dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from navi.cli import output
from navi.cli.sm.session_completion import complete_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from navi.client import Client
    from navi.live.model.wire_format import BudgetJson

HELP = """Show or set budgets: how much a session, an automation, or all your sessions in a day may
use, in estimated dollars or in tokens. When a budget is used up, the running turn may finish. Then
everything under that budget waits, and you are asked whether to raise it.

\b
sm budget                          show all budgets, and what is left
sm budget builder 2usd             builder and the sessions it starts
sm budget builder 500k tokens/day  the same, but per day
sm budget --day 10usd              all your sessions together, each day
sm budget --automation 4f1c 1usd   all runs of an automation
sm budget builder --remove

Usage is counted from the moment a budget is set; changing the amount does not restart the count.
When you raise a budget, everything that waits for it continues at once. Dollars are estimated from
the vendors' price lists. If a model's price is unknown, set a budget in tokens.
"""


@click.command("budget", help=HELP)
@click.argument("words", nargs=-1, metavar="[SESSION] [AMOUNT]", shell_complete=complete_session)
@click.option(
    "--day", "is_day", is_flag=True, help="Show or set the daily budget of all your sessions."
)
@click.option("--automation", metavar="ID", help="Show or set this automation's budget.")
@click.option(
    "--remove", is_flag=True, help="Remove the budget. Everything that waits for it continues."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    words: tuple[str, ...], is_day: bool, automation: str | None, remove: bool, as_json: bool
) -> None:
    from navi.base.errors import UsageError
    from navi.cli.sm import target
    from navi.cli.sm.words import budget_of
    from navi.client import Client, find_server
    from navi.client.calls import budget_path

    client = Client(find_server())
    if is_day or automation is not None:
        path, amount = budget_path(automation_id=automation), " ".join(words)
    elif words:
        path = budget_path(target.find(client, words[0])["id"])
        amount = " ".join(words[1:])
    elif remove:
        raise UsageError("--remove needs a session", hint="`sm budget SESSION --remove`")
    else:
        _show_all(client, as_json=as_json)
        return
    if remove:
        client.remove_budget(path)
        if as_json:
            output.say_json({"removed": True})
        else:
            output.note("removed; everything that waited for it continues")
        return
    budget = client.set_budget(path, budget_of(amount)) if amount else client.budget(path)
    if as_json:
        output.say_json(budget)
    else:
        output.say(_state(budget))


def _show_all(client: Client, *, as_json: bool) -> None:
    from navi.cli.sm import lines
    from navi.cli.table import Column

    budgets = client.budgets()
    if as_json:
        output.say_json(budgets)
        return
    if not budgets:
        output.note("there are no budgets; `sm budget SESSION 2usd` sets one")
        return
    names = {each["id"]: each["title"] for each in client.sessions(archived=True)}
    names |= {each["id"]: each["name"] for each in client.automations()}
    columns = [Column("FOR"), Column("USED", needed_width=20)]
    output.table(columns, [[_owner(each, names, lines.plain), _state(each)] for each in budgets])


def _owner(budget: BudgetJson, names: dict[str, str], plain: Callable[[str], str]) -> str:
    if budget["scope"] == "user":
        return f"all sessions of {plain(budget['owner_id'])}"
    return f"{budget['scope']} {plain(names.get(budget['owner_id'], budget['owner_id']))}"


def _state(budget: BudgetJson) -> str:
    """`used 1.20 of 2 USD`, and the reason if the budget pauses something."""
    from navi.cli.sm import lines

    words = lines.plain(budget["used_words"], lines.LONGEST)
    reason = budget["reason"]
    return words if reason is None else f"{words}; paused: {lines.plain(reason, lines.LONGEST)}"
