"""Questions that Codex asks a person, and how they are answered.

Each is a request from the app-server, and the answer is the response to it. A denial has no room
for the person's words, so they are sent as a message to the running turn.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from navi.live.agents.command_line.run_questions import Inquiry, Reachable, Reply, Settled, Step
from navi.live.model.question import (
    Decision,
    NewQuestion,
    Option,
    Question,
    QuestionKind,
    answer_in_words,
)
from navi.live.model.refusal import call_in_words
from navi.vendors.codex.app_server.requests import (
    ATTACH,
    RESUME,
    SETTINGS,
    START,
    TURN,
    refusal_line,
    response_line,
    resume_line,
    steer_line,
    turn_line,
)
from navi.vendors.codex.app_server.stream import Json, decode_message

ASK_AGAIN = (
    "Codex was killed while your last call waited for a person's answer. The call was not made. "
    "Make exactly the same call again, then go on with the task."
)
DECLINE = {"action": "decline", "content": None}
NO_ANSWER = "(no answer)"
SECRET_NOTE = "Codex treats the answer as a secret, but Navi stores it like any other."
NOT_CALLS = frozenset({"userMessage", "agentMessage", "reasoning", "plan", "hookPrompt"})
"""Types of items that are not calls."""
SHELL_TOOL = "shell"
SHELLS = frozenset({"bash", "sh", "zsh"})
SHELL_OPTIONS = frozenset({"-c", "-lc"})
# Escapes that Python and Codex read differently.
_UNCLEAR_QUOTES = re.compile(r"\\[$`!\n]")
PATCH_HEADERS = {"add": "*** Add File: ", "delete": "*** Delete File: "}
UPDATE_HEADER = "*** Update File: "


@dataclass(frozen=True, slots=True)
class _Request:
    """A request from the app-server that waits for a response."""

    id: object
    params: Json
    response_to: Callable[[Sequence[Question]], Json]
    """The response that conveys the answers, denials included."""


class CodexQuestions:
    """Handles the questions of one turn. `thread` is the thread to continue; None for a new one."""

    has_deferred = False

    def __init__(self, prompt: str, thread: str | None, cwd: Path, model: str | None) -> None:
        self._prompt = prompt
        self._cwd = cwd
        self._model = model
        self.thread = thread
        self._begin()

    def _begin(self) -> None:
        self._turn: str | None = None
        self._items: dict[str, Json] = {}
        """Calls that have begun but not ended, by id."""
        self._approval_calls: set[str] = set()
        """Calls to MCP servers' tools that Codex has asked about."""
        self._risky_requests: set[str] = set()
        """Open requests of calls that may already have done something."""
        self.is_over = False

    def begin_again(self) -> None:
        self._prompt = ASK_AGAIN
        self._begin()

    def read(self, line: bytes) -> Iterator[Step]:
        message = decode_message(line)
        method, params = message.get("method"), message.get("params") or {}
        if method is None:
            yield from self._responded(message)
        elif "id" in message:
            yield from self._requested(message["id"], method, params)
        else:
            yield from self._notified(method, params)

    def waits_only_for(self, call_ids: Collection[str]) -> bool:
        return not self._risky_requests and set(self._items) <= set(call_ids)

    def answer(self, inquiry: Inquiry, closed: Sequence[Question]) -> Reply | None:
        denied = next((each for each in closed if _is_denied(each)), None)
        if denied is None and any(each.answer is None for each in closed):
            return None
        request: _Request = inquiry.content
        response = response_line(request.id, request.response_to(closed))
        if denied is None or denied.kind is not QuestionKind.PERMISSION:
            return Reply(inquiry.id, response)
        words = denied.answer.text if denied.answer else None
        if not words:
            return Reply(inquiry.id, response)
        # Sent before the response, or the model might go on without having read it.
        thread, turn = str(request.params.get("threadId")), str(request.params.get("turnId"))
        message = steer_line(f"denial {inquiry.id}", thread, turn, words)
        return Reply(inquiry.id, message + response, is_repeatable=False)

    def _responded(self, message: Json) -> Iterator[Step]:
        request_id, result = message.get("id"), message.get("result") or {}
        if request_id == ATTACH:
            self._attached(result.get("thread") or {})
        if request_id not in (START, SETTINGS, RESUME, TURN):
            return
        if "error" in message:
            self.is_over = True
        elif request_id == START:
            self.thread = str(result["thread"]["id"])
            yield Reply(TURN, turn_line(self.thread, self._prompt), is_repeatable=False)
        elif request_id == SETTINGS:
            thread, settings = str(self.thread), result.get("config") or {}
            resume = resume_line(thread, self._cwd, self._model, settings)
            yield Reply(TURN, resume + turn_line(thread, self._prompt), is_repeatable=False)
        elif request_id == TURN:
            yield Settled(TURN)

    def _attached(self, thread: Json) -> None:
        """Record the calls that were already running."""
        for turn in (thread.get("turns") or ())[-1:]:
            for item in turn.get("items") or ():
                if item.get("status") == "inProgress" and item.get("type") not in NOT_CALLS:
                    self._items[str(item.get("id"))] = {**item, "threadId": thread.get("id")}

    def _notified(self, method: str, params: Json) -> Iterator[Step]:
        is_own = params.get("threadId") == self.thread
        item = params.get("item") or {}
        item_id = str(item.get("id"))
        match method:
            case "turn/started" if is_own:
                self._turn = str(params["turn"]["id"])
            case "turn/completed" if is_own:
                self.is_over = True
            case "item/started" if item.get("type") not in NOT_CALLS:
                self._items[item_id] = {**item, "threadId": params.get("threadId")}
            case "item/completed" if self._items.pop(item_id, None) is not None and is_own:
                if self._turn is not None:
                    steer = partial(steer_line, f"nudge {item_id}", str(self.thread), self._turn)
                    yield Reachable(item_id, steer)
            case "serverRequest/resolved":
                request_id = str(params.get("requestId"))
                self._risky_requests.discard(request_id)
                yield Settled(request_id)

    def _requested(self, request_id: object, method: str, params: Json) -> Iterator[Step]:
        inquiry_id, call_id = str(request_id), str(params.get("itemId"))
        request = partial(_Request, request_id, params)
        match method:
            case "item/commandExecution/requestApproval":
                # Each step of a command may need permission, under a separate id.
                question = _command_question(str(params.get("approvalId") or call_id), params)
                if question.tool_name != SHELL_TOOL:
                    self._risky_requests.add(inquiry_id)
                response_to = partial(_command_response, params)
                yield Inquiry(inquiry_id, [question], request(response_to))
            case "item/fileChange/requestApproval":
                changes = self._items.get(call_id, {}).get("changes")
                questions = [_patch_question(call_id, params, changes or [], self._cwd)]
                yield Inquiry(inquiry_id, questions, request(_patch_response))
            case "item/permissions/requestApproval":
                questions = [_rights_question(call_id, params)]
                yield Inquiry(inquiry_id, questions, request(partial(_rights_response, params)))
            case "mcpServer/elicitation/request" if _is_approval(params):
                call = self._call_of(params)
                call_id = str(call.get("id") or f"request {request_id}")
                self._approval_calls.add(call_id)
                questions = [_tool_question(call_id, call, params)]
                yield Inquiry(inquiry_id, questions, request(partial(_tool_response, params)))
            case "mcpServer/elicitation/request":
                yield Reply(inquiry_id, response_line(request_id, DECLINE))
            case "item/tool/requestUserInput" if entries := _entries(params):
                questions = [_choice_question(call_id, each) for each in entries]
                yield Inquiry(inquiry_id, questions, request(partial(_choice_response, entries)))
            case _:
                # Nothing else answers it, and Codex would wait forever.
                yield Reply(inquiry_id, refusal_line(request_id))

    def _call_of(self, params: Json) -> Json:
        """The call to a server's tool that needs permission; the request doesn't name it."""
        server, thread = params.get("serverName"), params.get("threadId")
        calls = (
            each
            for item_id, each in self._items.items()
            if (each.get("server"), each.get("threadId")) == (server, thread)
            and each.get("arguments") == params["_meta"].get("tool_params")
            and item_id not in self._approval_calls
        )
        return next(calls, {})


def _command_question(call_id: str, params: Json) -> NewQuestion:
    """Asks whether a command may run, or whether a running one may get input or reach a host."""
    network = params.get("networkApprovalContext") or {}
    arguments = {
        "command": script_of(str(params.get("command") or "")),
        "cwd": params.get("cwd"),
        "host": network.get("host"),
        "permissions": params.get("additionalPermissions"),
    }
    tool = SHELL_TOOL if params.get("kind", "command") == "command" else "write_stdin"
    title = f"May I call {call_in_words(tool, arguments)}?"
    if network:
        tool, title = "network", f"May I reach {network.get('host')}?"
    prefix = params.get("proposedExecpolicyAmendment")
    rules = [{"toolName": SHELL_TOOL, "ruleContent": shlex.join(prefix)}] if prefix else []
    return NewQuestion(
        kind=QuestionKind.PERMISSION,
        title=title,
        call_id=call_id,
        detail=str(params.get("reason") or ""),
        tool_name=tool,
        tool_input={name: value for name, value in arguments.items() if value},
        suggestions=_suggestions(rules),
    )


def _suggestions(rules: Sequence[Json]) -> list[Json]:
    return [{"type": "addRules", "rules": rules, "behavior": "allow"}] if rules else []


def _command_response(params: Json, closed: Sequence[Question]) -> Json:
    rule = params.get("proposedExecpolicyAmendment")
    match _decision_of(closed[0]):
        case Decision.ALLOW_ALWAYS if rule:
            amendment = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": rule}}
            return {"decision": amendment}
        case decision:
            return {"decision": _decision_word(decision)}


def _patch_question(call_id: str, params: Json, changes: Sequence[Json], cwd: Path) -> NewQuestion:
    paths = [_short_path(str(each.get("path")), cwd) for each in changes]
    parts = [_patch_part(path, each) for path, each in zip(paths, changes, strict=True)]
    patch = "\n".join(["*** Begin Patch", *parts, "*** End Patch"])
    arguments = {"path": ", ".join(paths), "patch": patch}
    return NewQuestion(
        kind=QuestionKind.PERMISSION,
        title=f"May I call {call_in_words('apply_patch', arguments)}?",
        call_id=call_id,
        detail=str(params.get("reason") or ""),
        tool_name="apply_patch",
        tool_input=arguments,
    )


def _patch_response(closed: Sequence[Question]) -> Json:
    return {"decision": _decision_word(_decision_of(closed[0]))}


def _rights_question(call_id: str, params: Json) -> NewQuestion:
    reason = str(params.get("reason") or "")
    return NewQuestion(
        kind=QuestionKind.PERMISSION,
        title="May I have more permissions?",
        call_id=call_id,
        detail=reason,
        tool_name="request_permissions",
        tool_input={"permissions": params.get("permissions") or {}, "reason": reason},
    )


def _rights_response(params: Json, closed: Sequence[Question]) -> Json:
    decision = _decision_of(closed[0])
    if decision is Decision.DENY:
        return {"permissions": {}}
    permissions = params.get("permissions") or {}
    rights = {name: value for name, value in permissions.items() if value is not None}
    return {"permissions": rights, "scope": "turn"}


def _tool_question(call_id: str, call: Json, params: Json) -> NewQuestion:
    details = params["_meta"]
    name = f"{params.get('serverName')}.{call.get('tool') or 'tool'}"
    arguments = call.get("arguments") or details.get("tool_params")
    arguments = arguments if isinstance(arguments, dict) else {}
    return NewQuestion(
        kind=QuestionKind.PERMISSION,
        title=f"May I call {call_in_words(name, arguments)}?",
        call_id=call_id,
        detail=str(params.get("message") or ""),
        tool_name=name,
        tool_input=arguments,
        suggestions=_suggestions([{"toolName": name}] if _can_persist(params) else []),
    )


def _tool_response(params: Json, closed: Sequence[Question]) -> Json:
    decision = _decision_of(closed[0])
    if decision is Decision.DENY:
        return DECLINE
    is_always = decision is Decision.ALLOW_ALWAYS and _can_persist(params)
    return {
        "action": "accept",
        "content": {},
        "_meta": {"persist": "always"} if is_always else None,
    }


def _can_persist(params: Json) -> bool:
    return "always" in (params["_meta"].get("persist") or ())


def _is_approval(params: Json) -> bool:
    details = params.get("_meta")
    return isinstance(details, dict) and details.get("codex_approval_kind") == "mcp_tool_call"


def _entries(params: Json) -> list[Json]:
    entries = params.get("questions") or ()
    return [each for each in entries if isinstance(each, dict) and each.get("question")]


def _choice_question(call_id: str, entry: Json) -> NewQuestion:
    title, _, detail = str(entry["question"]).strip().partition("\n")
    options = [each for each in entry.get("options") or () if isinstance(each, dict)]
    notes = [detail.strip(), *([SECRET_NOTE] if entry.get("isSecret") else [])]
    return NewQuestion(
        kind=QuestionKind.CHOICE if options else QuestionKind.TEXT,
        title=title,
        call_id=call_id,
        detail="\n".join(filter(None, notes)),
        options=[
            Option(str(each.get("label")), str(each.get("description") or "")) for each in options
        ],
        allow_free_text=bool(entry.get("isOther")),
    )


def _choice_response(entries: Sequence[Json], closed: Sequence[Question]) -> Json:
    return {
        "answers": {
            str(entry.get("id")): {"answers": _words(question)}
            for entry, question in zip(entries, closed, strict=True)
        }
    }


def _words(question: Question) -> list[str]:
    answer = question.answer
    if answer is None:
        return [NO_ANSWER]
    if answer.decision is Decision.CHOOSE:
        return [*answer.choices, *([answer.text] if answer.text else [])]
    return [answer_in_words(answer)]


def script_of(command: str) -> str:
    """The script in `bash -lc 'script'`, as Codex writes commands; otherwise the command itself."""
    if _UNCLEAR_QUOTES.search(command):
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) != 3 or words[1] not in SHELL_OPTIONS:
        return command
    return words[2] if os.path.basename(words[0]) in SHELLS else command


def _patch_part(path: str, change: Json) -> str:
    kind, diff = change.get("kind"), str(change.get("diff") or "").rstrip("\n")
    name = str(kind.get("type") if isinstance(kind, dict) else kind)
    header = PATCH_HEADERS.get(name, UPDATE_HEADER) + path
    if name == "add":
        diff = "\n".join(f"+{line}" for line in diff.splitlines())
    elif name == "delete":
        diff = ""
    return f"{header}\n{diff}" if diff else header


def _short_path(path: str, cwd: Path) -> str:
    return path.removeprefix(f"{cwd}{os.sep}")


def _decision_of(question: Question) -> Decision:
    answer = question.answer
    return Decision.DENY if answer is None else answer.decision


def _decision_word(decision: Decision) -> str:
    return "decline" if decision is Decision.DENY else "accept"


def _is_denied(question: Question) -> bool:
    return question.answer is not None and question.answer.decision is Decision.DENY
