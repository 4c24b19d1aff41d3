"""`navi` without a command: from nothing to an open page in one step."""

from __future__ import annotations

from enum import Enum, auto

from navi.base.errors import NaviError
from navi.base.served_address import served_address
from navi.cli import formats, output
from navi.cli.navi import connection_offer
from navi.cli.navi.commands import login, serve
from navi.cli.navi.installed_agents import installed_agents
from navi.cli.recall.freshness import bring_up_to_date
from navi.live.model.access.user import LOCAL_USER_ID
from navi.live.runtime import server_files, settings
from navi.memory.index_paths import index_paths
from navi.vendors import registry
from navi.vendors.agent_settings import AgentSettings


class Setup(Enum):
    """Whether to connect the agents on this machine."""

    ASK = auto()
    YES = auto()
    NO = auto()


def run(port: int | None, *, no_open: bool, setup: Setup) -> None:
    """Open the page of this home's server. If none runs, first look for agents and start it."""
    config = settings.load()
    server_files.prepare_home()
    is_served = served_address() is not None
    if not is_served:
        _show_sessions()
    agents = _connectable_agents(config)
    if setup is Setup.YES:
        connection_offer.connect(agents)
    elif setup is Setup.ASK and not is_served:
        connection_offer.offer(agents)
    if is_served:
        output.note("Navi is already running; this link opens its page:")
        login.print_link(LOCAL_USER_ID, opens_browser=not no_open)
    else:
        serve.run(None, port, no_open=no_open)


def _connectable_agents(config: settings.Settings) -> dict[str, AgentSettings]:
    names = {agent.name for agent in installed_agents(config)}
    return {name: each for name, each in registry.settings().items() if each.driver in names}


def _show_sessions() -> None:
    """Index the sessions of all agents on this machine, and print how many there are."""
    from navi.memory.read.session_list import SessionFilters, SessionList

    paths = index_paths()
    bring_up_to_date(paths)
    try:
        sessions = SessionList(paths)
    except NaviError as problem:
        output.complain(problem)  # the server works without an index
        return
    counts = {name: sessions.total(SessionFilters(source=name)) for name in registry.sources()}
    titles = [_title(name) for name, count in counts.items() if count]
    if titles:
        total = formats.count(sum(counts.values()), "session")
        output.note(f"found {total} of {formats.joined(titles)}; `recall search` searches them")
    else:
        output.note("found no sessions of other agents on this machine yet")


def _title(source: str) -> str:
    vendor = registry.vendors().get(source)
    return formats.source(source) if vendor is None else vendor.title
