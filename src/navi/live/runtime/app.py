"""Builds everything, and starts and stops it in order."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from typing import Any

from navi.base.clock import Clock
from navi.base.system_clock import SystemClock
from navi.live.agents.builtin.builtin_driver import BuiltinDriver
from navi.live.agents.builtin.models import suggested_models
from navi.live.agents.command_line.agent_environment import (
    Launch,
    ServerAccess,
    visible_variables,
    with_identity,
)
from navi.live.agents.driver import Driver
from navi.live.agents.terminal.pane_agent import PaneAgent
from navi.live.agents.terminal.tmux_driver import TmuxDriver
from navi.live.model.event import Event
from navi.live.model.input import Origin
from navi.live.model.scheduling.reminder import Thresholds
from navi.live.model.tool import Tool
from navi.live.runtime import server_files
from navi.live.runtime.broadcast import Broadcast
from navi.live.runtime.index_follower import IndexFollower
from navi.live.runtime.notifications.answer_links import AnswerLinks
from navi.live.runtime.notifications.channel_setup import channels_of, rules_of
from navi.live.runtime.notifications.delivery import NotificationDelivery
from navi.live.runtime.scheduler.answer_posting import AnswerPosting
from navi.live.runtime.scheduler.due_loop import DueLoop
from navi.live.runtime.scheduler.system_jobs import SystemJobs, dream_summary, schedules_of
from navi.live.runtime.service import Service
from navi.live.runtime.services.accounts import Accounts
from navi.live.runtime.services.agenda_service import AgendaService
from navi.live.runtime.services.agent_catalogue import BUILTIN, AgentCatalogue, AgentProgram
from navi.live.runtime.services.agent_tokens import AgentTokens
from navi.live.runtime.services.automation_service import AutomationService, defaults_of
from navi.live.runtime.services.budget_service import BudgetService
from navi.live.runtime.services.inbox_service import InboxService
from navi.live.runtime.services.login_service import LoginService
from navi.live.runtime.services.long_poll import LongPoll
from navi.live.runtime.services.memory_search import MemorySearch
from navi.live.runtime.services.memory_service import MemoryService
from navi.live.runtime.services.message_service import MessageService
from navi.live.runtime.services.notification_service import NotificationService
from navi.live.runtime.services.question_service import QuestionService
from navi.live.runtime.services.recall_service import RecallService
from navi.live.runtime.services.recent_folders import RecentFolders
from navi.live.runtime.services.reminder_service import ReminderService
from navi.live.runtime.services.server_token import ServerToken
from navi.live.runtime.services.session_service import SessionService
from navi.live.runtime.services.terminal_service import TerminalService
from navi.live.runtime.services.usage_limit_service import UsageLimitService
from navi.live.runtime.settings import (
    Settings,
    limits_of,
    model_of,
    retry_policy_of,
    timezone_of,
)
from navi.live.runtime.signal_listener import SignalListener
from navi.live.runtime.turns.admission import AdmissionService
from navi.live.runtime.turns.process_identity import own_identity
from navi.live.runtime.turns.recovery import Recovery
from navi.live.runtime.turns.turn_questions import OpenQuestions
from navi.live.runtime.turns.turn_runner import TurnGuards, TurnRunner
from navi.live.runtime.turns.turn_slots import Pool, TurnSlots
from navi.live.store.due.contract import DueKind
from navi.live.store.due.due_automations import DueAutomations
from navi.live.store.due.due_nudges import DueNudges
from navi.live.store.due.due_questions import DueQuestions
from navi.live.store.due.due_recalls import DueRecalls
from navi.live.store.due.due_reminders import DueReminders
from navi.live.store.engine.transactions import Store
from navi.live.tools.ask_person import AskPerson
from navi.live.tools.cron import Cron
from navi.live.tools.files.filesystem import Filesystem
from navi.live.tools.manage_recall import ManageRecall
from navi.live.tools.processes.terminal import Terminal
from navi.live.tools.read_session import ReadSession
from navi.live.tools.report_status import ReportStatus
from navi.live.tools.schedule_recall import ScheduleRecall
from navi.live.tools.search_sessions import SearchSessions
from navi.live.tools.send_message import SendMessage
from navi.live.tools.sessions_of_file import SessionsOfFile
from navi.live.tools.web.http_request import HttpRequest
from navi.vendors import registry
from navi.vendors.vendor import Vendor

ANSWER_SLOTS = 1_000_000
"""Practically unlimited: each answered question begins one turn, and people answer slowly."""

log = logging.getLogger("navi")


@dataclass(frozen=True, slots=True)
class Notifications:
    """The parts that notify people that an agent needs them."""

    service: NotificationService
    links: AnswerLinks
    delivery: NotificationDelivery


@dataclass(frozen=True, slots=True)
class Navi:
    """The services of a running Navi, for the HTTP server and the commands."""

    settings: Settings
    store: Store
    accounts: Accounts
    logins: LoginService
    sessions: SessionService
    recalls: RecallService
    automations: AutomationService
    messages: MessageService
    admission: AdmissionService
    reminders: ReminderService
    questions: QuestionService
    budgets: BudgetService
    inbox: InboxService
    notifications: Notifications
    agenda: AgendaService
    usage_limits: UsageLimitService
    folders: RecentFolders
    long_poll: LongPoll
    answer_posting: AnswerPosting
    recovery: Recovery
    broadcast: Broadcast
    memory: MemoryService
    index_follower: IndexFollower
    scheduler: DueLoop
    terminals: TerminalService
    tools: Mapping[str, Tool[Any]]
    """The tools that every agent gets."""


@asynccontextmanager
async def running(
    settings: Settings,
    database_url: str,
    token: str | ServerToken,
    *,
    clock: Clock | None = None,
    drivers: Mapping[str, Driver] | None = None,
    address: str | None = None,
    follows_index: bool = False,
) -> AsyncIterator[Navi]:
    """Run Navi inside the `with` block.

    Leaving the block closes the running turns, except those of agents that outlive the server.
    Agents call Navi at `address`; if it is None, they can't. With `follows_index`, Navi keeps the
    index up to date.
    """
    navi, engine = _build(settings, database_url, token, clock or SystemClock(), drivers, address)
    store, admission = navi.store, navi.admission
    services = [*engine.services, navi.index_follower] if follows_index else engine.services
    store.start()
    await engine.system_jobs.set_up(schedules_of(settings))
    await engine.recovery.check_turns()
    for service in services:
        service.start()
    admission.wake()
    try:
        yield navi
    finally:
        admission.close()
        await engine.turns.shut_down()
        for service in services:
            await service.stop()
        for driver in set(engine.drivers.values()):
            await driver.aclose()
        await store.close()


@dataclass(frozen=True, slots=True)
class _Engine:
    """The parts that are started and stopped."""

    turns: TurnRunner
    drivers: Mapping[str, Driver]
    system_jobs: SystemJobs
    recovery: Recovery
    services: Sequence[Service]


def _build(
    settings: Settings,
    database_url: str,
    token: str | ServerToken,
    clock: Clock,
    drivers: Mapping[str, Driver] | None,
    address: str | None,
) -> tuple[Navi, _Engine]:
    lease = timedelta(seconds=settings.turns.lease_seconds)
    owner, zone, limits = own_identity(), timezone_of(settings), limits_of(settings)
    store = Store(database_url)
    broadcast = Broadcast(store)
    system_jobs = SystemJobs(store, clock, server_files.workspace(), BUILTIN, zone)
    slots, thresholds = _turn_slots(settings), _thresholds(settings)
    all_drivers: dict[str, Driver] = {}
    open_questions = OpenQuestions(store, clock, slots, settings.questions)
    turns = _turns(owner, settings, store, clock, all_drivers, slots, open_questions, system_jobs)
    admission = AdmissionService(store, clock, turns, slots, limits)
    agents = agent_catalogue(settings, all_drivers)
    sessions = SessionService(store, clock, turns, all_drivers, limits, agents)
    recalls = RecallService(store, clock, sessions, zone, settings.recalls.keep_finished, limits)
    automations = AutomationService(store, clock, sessions, defaults_of(settings), limits)
    messages = MessageService(store, clock, sessions, admission, thresholds)
    budgets = _budgets(settings, store, clock, sessions, automations, admission)
    questions = QuestionService(store, clock, sessions, admission, open_questions, budgets)
    # Drivers come after these services, because their tools use them.
    tools = agent_tools(clock, zone, sessions, recalls, automations, messages, questions)
    access = None if address is None else ServerAccess(address, AgentTokens(store, clock).token_for)
    builtin = built_in_driver(settings, [*machine_tools(settings, access), *tools])
    all_drivers.update(drivers or default_drivers(settings, builtin, access))
    accounts, logins = _build_accounts(settings, store, clock, token)
    navi = Navi(
        settings=settings,
        store=store,
        accounts=accounts,
        logins=logins,
        sessions=sessions,
        recalls=recalls,
        automations=automations,
        messages=messages,
        admission=admission,
        reminders=ReminderService(store, clock, sessions, thresholds, limits),
        questions=questions,
        budgets=budgets,
        inbox=InboxService(store, clock, sessions, zone),
        notifications=_build_notifications(settings, store, clock, questions),
        agenda=AgendaService(store, clock, zone),
        usage_limits=UsageLimitService(store, clock, admission),
        folders=RecentFolders(store, MemoryService(clock)),
        long_poll=LongPoll(store, broadcast, sessions),
        answer_posting=AnswerPosting(store, clock, builtin.is_worth_reporting),
        recovery=Recovery(store, clock, owner, turns, admission, sessions, lease),
        broadcast=broadcast,
        memory=MemoryService(clock, builtin.summarise),
        index_follower=IndexFollower(database_url),
        scheduler=DueLoop(store, clock, due_kinds(settings), admission),
        terminals=TerminalService(store, clock, turns, admission, all_drivers, limits),
        tools={tool.name: tool for tool in tools},
    )
    return navi, _engine(navi, turns, open_questions, all_drivers, system_jobs)


def _engine(
    navi: Navi,
    turns: TurnRunner,
    questions: OpenQuestions,
    drivers: Mapping[str, Driver],
    system_jobs: SystemJobs,
) -> _Engine:
    services = [
        navi.broadcast,
        navi.admission,
        navi.recovery,
        navi.scheduler,
        navi.terminals,
        navi.answer_posting,
        navi.notifications.delivery,
        _connect(navi, turns, questions),
    ]
    return _Engine(turns, drivers, system_jobs, navi.recovery, services)


def _connect(navi: Navi, turns: TurnRunner, questions: OpenQuestions) -> SignalListener:
    """Pass the store's committed events and signals to the services."""
    broadcast, follower = navi.broadcast, navi.index_follower
    listener = SignalListener(
        navi.store,
        broadcast,
        turns,
        navi.admission,
        navi.scheduler,
        navi.recovery,
        follower,
        questions,
        navi.notifications.delivery,
    )
    navi.store.on_events = _publisher_for(
        broadcast.publish, navi.answer_posting.on_events, follower.on_events
    )
    navi.store.on_signal = listener.on_own_signal
    return listener


def _build_notifications(
    settings: Settings, store: Store, clock: Clock, questions: QuestionService
) -> Notifications:
    options = settings.notifications
    channels = channels_of(options)
    rules = rules_of(options, channels, timezone_of(settings))
    links = AnswerLinks(store, clock, questions, options.public_url)
    return Notifications(
        NotificationService(store, clock, channels, links),
        links,
        NotificationDelivery(store, clock, channels, rules, links, quotes=options.quote),
    )


def _turn_slots(settings: Settings) -> TurnSlots:
    turns, recalls = settings.turns, settings.recalls
    return TurnSlots(
        Pool(turns.max_concurrent, turns.always_per_user),
        {
            Origin.RECALL: Pool(recalls.max_concurrent, recalls.always_per_user),
            # An answered turn continues at once.
            Origin.ANSWER: Pool(ANSWER_SLOTS, ANSWER_SLOTS),
        },
    )


def _budgets(
    settings: Settings,
    store: Store,
    clock: Clock,
    sessions: SessionService,
    automations: AutomationService,
    admission: AdmissionService,
) -> BudgetService:
    zone, usual_day = timezone_of(settings), settings.budgets.usual_day
    return BudgetService(store, clock, sessions, automations, admission, zone, usual_day)


def _turns(
    owner: str,
    settings: Settings,
    store: Store,
    clock: Clock,
    drivers: Mapping[str, Driver],
    slots: TurnSlots,
    questions: OpenQuestions,
    system_jobs: SystemJobs,
) -> TurnRunner:
    return TurnRunner(
        store,
        clock,
        owner,
        drivers,
        timedelta(seconds=settings.turns.lease_seconds),
        slots,
        questions,
        system_jobs,
        timezone_of(settings),
        retry_policy_of(settings),
        TurnGuards(settings.budgets.usual_day, settings.budgets.repeated_calls),
    )


def _thresholds(settings: Settings) -> Thresholds:
    remind = settings.remind
    return Thresholds(remind.soft_threshold_seconds, remind.hard_gap_seconds)


def _publisher_for(
    *listeners: Callable[[Sequence[Event]], None],
) -> Callable[[Sequence[Event]], None]:
    def publish(events: Sequence[Event]) -> None:
        for listener in listeners:
            listener(events)

    return publish


def _build_accounts(
    settings: Settings, store: Store, clock: Clock, token: str | ServerToken
) -> tuple[Accounts, LoginService]:
    token = ServerToken(token) if isinstance(token, str) else token
    lifetime = timedelta(days=settings.server.login_days)
    accounts = Accounts(store, clock, token, lifetime)
    return accounts, LoginService(store, clock, accounts, lifetime)


def due_kinds(settings: Settings) -> list[DueKind]:
    return [
        DueRecalls(settings.recalls.time_limit_seconds),
        DueAutomations(settings.automations.keep_runs),
        DueNudges(),
        DueReminders(),
        DueQuestions(),
    ]


def agent_tools(
    clock: Clock,
    timezone: tzinfo,
    sessions: SessionService,
    recalls: RecallService,
    automations: AutomationService,
    messages: MessageService,
    questions: QuestionService,
) -> list[Tool[Any]]:
    """The tools that every agent gets: the built-in agent directly, others through MCP."""
    memory_search = MemorySearch(MemoryService(clock))
    return [
        ScheduleRecall(recalls),
        ManageRecall(recalls, clock, timezone),
        Cron(automations, clock, timezone),
        SearchSessions(memory_search, list(registry.sources())),
        ReadSession(memory_search),
        SessionsOfFile(memory_search),
        ReportStatus(messages),
        SendMessage(sessions, messages),
        AskPerson(questions),
    ]


def machine_tools(settings: Settings, access: ServerAccess | None) -> list[Tool[Any]]:
    """More tools for the built-in agent; other agents bring their own."""

    async def environment(session_id: str) -> Mapping[str, str]:
        visible = _visible_variables(settings.agents.pass_environment)
        return await with_identity(visible, session_id, access)

    return [
        Filesystem(),
        Terminal(
            default_timeout_seconds=settings.tools.terminal_timeout_seconds,
            output_limit_characters=settings.tools.terminal_output_characters,
            environment=environment,
        ),
        HttpRequest(allow_private=settings.tools.http_allow_private),
    ]


def built_in_driver(settings: Settings, tools: Sequence[Tool[Any]]) -> BuiltinDriver:
    return BuiltinDriver(
        model=model_of(settings),
        tools=tools,
        max_iterations=settings.agent.max_iterations,
        instructions=settings.agent.instructions,
        history_tokens=settings.agent.history_tokens,
        base_urls={
            provider: url
            for provider, url in (
                ("anthropic", settings.agent.anthropic_base_url),
                ("openai", settings.agent.openai_base_url),
            )
            if url is not None
        },
        memories=dream_summary,
    )


def agent_catalogue(settings: Settings, drivers: Mapping[str, Driver]) -> AgentCatalogue:
    programs = {
        name: AgentProgram(vendor.title, settings.program(vendor).command, vendor.models)
        for name, vendor in registry.vendors().items()
        if vendor.command
    }
    default_title = registry.vendors()[registry.DEFAULT_PANE_AGENT].title
    programs["tmux"] = AgentProgram(f"{default_title} in a terminal (tmux)", "tmux")
    models = suggested_models(os.environ, settings.agent.model)
    return AgentCatalogue(drivers, programs, models, registry.PREFERRED_AGENTS)


def default_drivers(
    settings: Settings, builtin: BuiltinDriver, access: ServerAccess | None = None
) -> dict[str, Driver]:
    # Both names run the same agent, but sessions with `scripted` always use the scripted model.
    return {"builtin": builtin, "scripted": builtin, **_outside_drivers(settings, access)}


def _outside_drivers(settings: Settings, access: ServerAccess | None) -> dict[str, Driver]:
    """The drivers of agents that are separate programs."""
    drivers: dict[str, Driver] = {}
    pane_agents: dict[str, PaneAgent] = {}
    for name, vendor in registry.vendors().items():
        launch = _launch(vendor, settings, access)
        if (driver := vendor.driver(launch)) is not None:
            drivers[name] = driver
        if (pane_agent := vendor.terminal(launch)) is not None:
            pane_agents[name] = pane_agent
    drivers["tmux"] = TmuxDriver(
        pane_agents,
        default_agent=registry.DEFAULT_PANE_AGENT,
        socket=server_files.tmux_socket(),
        runs=server_files.runs(),
        environment=_visible_variables(settings.agents.pass_environment),
        access=access,
    )
    return drivers


def _launch(vendor: Vendor, settings: Settings, access: ServerAccess | None) -> Launch:
    program = settings.program(vendor)
    names = [*vendor.variables(os.environ), *settings.agents.pass_environment]
    environment = _visible_variables(names)
    return Launch(program.command, program.arguments, environment, server_files.runs(), access)


def _visible_variables(names: Sequence[str]) -> dict[str, str]:
    vendors = registry.vendors().values()
    nesting_prefixes = [prefix for vendor in vendors for prefix in vendor.nesting_prefixes]
    return visible_variables(os.environ, names, nesting_prefixes)
