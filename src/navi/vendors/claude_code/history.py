"""Reads Claude Code's transcripts for the index: `projects/<folder>/<session id>.jsonl`.

Each content block of an answer has its own line; lines with the same `message.id` become one
message. Lines of other answers may come in between, so the last few answers stay open. A line that
repeats an earlier one adds no message; only its tokens are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import BinaryIO

import msgspec

from navi.base.ids import is_agent_session_id
from navi.memory.model import (
    PastMessage,
    PastOutput,
    PastToolCall,
    PastTurn,
    PastUsage,
    SessionFile,
)
from navi.vendors.claude_code.home import ClaudeCodeHome, cleanup_period_days
from navi.vendors.claude_code.records import (
    ATTACHMENT,
    ATTACHMENT_WITHIN,
    IGNORED,
    IGNORED_AT_START,
    LONGEST_TYPE,
    QUEUED,
    SYNTHETIC,
    TYPE_FIRST,
    Block,
    Content,
    Line,
    answered_call,
    collect,
    decode_line,
    line_decoder,
    output_text,
    texts_of,
    tool_input,
)
from navi.vendors.claude_code.repeats import Repeats, call_key
from navi.vendors.growing_file import LineParser, LineReading, last_timestamp, read_at
from navi.vendors.session_files import entries, session_file
from navi.vendors.source import Chunk, Reading, Source

BOILERPLATE = (
    *("<system-reminder>", "<local-command-caveat>", "Caveat: The messages below were generated"),
)
"""Beginnings of texts that are the same in every session."""
INTERRUPTED = "[Request interrupted by user"
NOT_TYPED = (
    *("<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-"),
    *("<task-notification>", "<system-reminder>", "<teammate-message", "<user-prompt-submit-hook>"),
    *("<ide_opened_file>", "<ide_selection>", "<new-diagnostics>"),
    INTERRUPTED,
)
"""Beginnings of texts that Claude Code wrote in the user's name."""

CONVERSATION = frozenset(("user", "assistant", "system"))
WARMUP = "Warmup"
MAX_OPEN_ANSWERS = 8
"""How many answers the main agent and its sub-agents may be writing at the same time."""
MAX_OPEN_CALLS = 64
"""How many tool calls may be waiting for their output at the same time."""
CONFIRMING_TOOLS = frozenset(("Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "Write"))
"""Tools whose output only repeats their input, unless it is an error."""


class Answer(msgspec.Struct):
    """An answer that later lines may continue."""

    idx: int
    timestamp: datetime | None
    calls: list[int] = []
    """The keys of its tool calls, to recognise repeated ones."""
    tokens: tuple[int, int, int, int] | None = msgspec.field(default=None, name="spent")
    text_spans: list[tuple[int, int]] = msgspec.field(default_factory=list, name="places")
    """Offset and length of each line with a text, so that a later reading can read it again."""


class OpenCall(msgspec.Struct, array_like=True):
    """A tool call that has no output yet."""

    message_idx: int
    idx: int
    tool: str


class State(msgspec.Struct):
    next_idx: int = 0
    title_rank: int = 0
    has_session_details: bool = msgspec.field(default=False, name="is_known")
    """The session's start and folder have been read; later lines are not searched for them."""
    newest_at: datetime | None = None
    """The latest time of a line with content."""
    answers: dict[str, Answer] = {}
    open_calls: dict[str, OpenCall] = {}
    """By the agent's id of the call."""


class ClaudeCodeSource(Source):
    name = "claude_code"
    version = LineParser.version

    def __init__(self) -> None:
        self.unreadable: list[str] = []

    def folders(self) -> list[str]:
        return [str(ClaudeCodeHome.of().projects)]

    def discover(self) -> Iterator[SessionFile]:
        unreadable = self.unreadable = list[str]()
        [projects] = self.folders()
        for project in entries(projects, unreadable):
            if project.is_dir():
                yield from _transcripts(project.path, unreadable)

    def read(self, file: SessionFile, mark: bytes | None = None) -> Reading:
        return LineReading(file, ClaudeCodeLineParser(file.path), mark)

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        if source_session_id.startswith("agent-") or not is_agent_session_id(source_session_id):
            return None
        return ["claude", "--resume", source_session_id]

    def parent_path(self, path: str) -> str | None:
        folder, name = os.path.split(path)
        parent, kind = os.path.split(folder)
        return f"{parent}.jsonl" if kind == "subagents" and name.startswith("agent-") else None

    def deletes_after(self) -> timedelta | None:
        return timedelta(days=cleanup_period_days())


def _transcripts(project: str, unreadable: list[str]) -> Iterator[SessionFile]:
    for entry in entries(project, unreadable):
        if entry.name.endswith(".jsonl"):
            yield from session_file(entry, unreadable)
        elif entry.is_dir(follow_symlinks=False):
            for agent in entries(os.path.join(entry.path, "subagents"), unreadable):
                if agent.name.startswith("agent-") and agent.name.endswith(".jsonl"):
                    yield from session_file(agent, unreadable)


class ClaudeCodeLineParser(LineParser):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._state = State()
        self._texts: dict[str, tuple[list[str], list[str]]] = {}
        """The texts and thoughts of the open answers."""
        self._repeats = Repeats(path)
        # Take the id from the file's name: old versions copied lines with ids of other sessions.
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        self.session.source_session_id = stem
        self.session.is_subagent = stem.startswith("agent-")
        parent, kind = os.path.split(folder)
        if kind == "subagents":
            self.session.parent_source_session_id = os.path.basename(parent)

    def state(self) -> bytes:
        return msgspec.json.encode(self._state)

    def restore(self, state: bytes, file: BinaryIO) -> None:
        self._state = msgspec.json.decode(state, type=State)
        self._repeats.start_at_mark()
        for id, answer in self._state.answers.items():
            texts, thoughts = self._texts[id] = ([], [])
            for offset, length in answer.text_spans:
                line = decode_line(read_at(file, offset, length))
                if line is not None and line.message is not None:
                    collect(line.message.content, texts, thoughts)

    def read_lines(self, lines: list[bytes], offset: int, number: int, chunk: Chunk) -> None:
        decode = line_decoder.decode
        state = self._state
        next_offset = offset
        for line_number, text in enumerate(lines, number):
            offset = next_offset
            next_offset += len(text) + 1
            # `is_ignored`, inlined because it runs for every line.
            if text.startswith(TYPE_FIRST):
                if text[: text.find(b'"', len(TYPE_FIRST), LONGEST_TYPE) + 1] in IGNORED_AT_START:
                    continue
            else:
                at = text.find(ATTACHMENT, 0, ATTACHMENT_WITHIN)
                if at >= 0 and not text.startswith(QUEUED, at):
                    continue
            try:
                line = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                if not text or text.isspace():
                    continue
                repaired = decode_line(text)
                if repaired is None:
                    self.count_bad_line(line_number)
                    continue
                line = repaired
            kind = line.type
            if not state.has_session_details and kind in CONVERSATION:
                self._read_session(line)
            if kind == "assistant":
                self._read_answer(line, offset, len(text), chunk)
            elif kind == "user":
                if line.message is not None:
                    self._read_outputs(line.message.content, line.timestamp, chunk)
                    is_injected = bool(line.isMeta or line.isCompactSummary)
                    self._read_prompt(line.message.content, is_injected, line, offset, chunk)
            else:
                self._read_other(line, offset, chunk)
        self.session.ended_at = last_timestamp(lines) or self.session.ended_at

    def _read_session(self, line: Line) -> None:
        """Read the session's details from one of its first lines."""
        session = self.session
        session.started_at = session.started_at or line.timestamp
        session.cwd = session.cwd or line.cwd
        session.git_branch = session.git_branch or line.gitBranch
        if session.parent_source_session_id is None:
            if session.is_subagent:
                # A sub-agent's lines carry the id of the session that started it.
                session.parent_source_session_id = line.sessionId
            elif line.forkedFrom is not None:
                session.parent_source_session_id = line.forkedFrom.sessionId
        has_details = session.started_at is not None and session.cwd is not None
        self._state.has_session_details = has_details

    def _read_answer(self, line: Line, offset: int, length: int, chunk: Chunk) -> None:
        message = line.message
        if message is None:
            return
        content, state = message.content, self._state
        if message.model == SYNTHETIC:
            texts, before = texts_of(content), state.next_idx
            self._add_system_message(texts, line, offset, chunk)
            if line.isApiErrorMessage and state.next_idx > before:
                self._add_turn("error", "\n\n".join(texts), line, chunk)
            return
        if message.model is not None:
            self.session.model = message.model
        id = message.id or line.uuid or f"{self.session.source_session_id}:{state.next_idx}"
        answer = state.answers.get(id)
        if answer is not None:
            if not self._add_if_newest(line):
                self._repeats.add(line, state.newest_at)
        elif self._is_repeat(line, offset):
            self._add_usage(id, None, line, chunk)
            return
        else:
            answer = self._open_answer(id, line.timestamp)
        texts, thoughts = self._texts[id]
        if collect(content, texts, thoughts) or not answer.text_spans:
            answer.text_spans.append((offset, length))
            self._detect_warmup(answer.idx, texts[-1] if texts else "")
            chunk.messages.append(
                PastMessage(
                    answer.idx,
                    "assistant",
                    "\n\n".join(texts) or None,
                    "\n\n".join(thoughts) or None,
                    answer.timestamp,
                )
            )
        if isinstance(content, list):
            for block in content:
                if isinstance(block, Block) and block.name is not None:
                    self._add_call(answer, block, line.timestamp, chunk)
        self._add_usage(id, answer, line, chunk)

    def _is_repeat(self, line: Line, offset: int) -> bool:
        """Whether the line repeats earlier ones. Also remembers it for comparing later lines."""
        if self._add_if_newest(line):
            return False
        return self._repeats.check_and_add(line, self._state.newest_at, offset)

    def _add_if_newest(self, line: Line) -> bool:
        """Remember the line if it is newer than all before it. Returns whether it is."""
        timestamp, newest_at = line.timestamp, self._state.newest_at
        try:
            if timestamp is None or (newest_at is not None and timestamp <= newest_at):
                return False
        except TypeError:  # only one of them has a time zone
            return False
        self._state.newest_at = timestamp
        self._repeats.add_newest(line)
        return True

    def _open_answer(self, id: str, timestamp: datetime | None) -> Answer:
        answers = self._state.answers
        if len(answers) >= MAX_OPEN_ANSWERS:
            oldest = next(iter(answers))
            del answers[oldest], self._texts[oldest]
        answer = answers[id] = Answer(self._state.next_idx, timestamp)
        self._texts[id] = ([], [])
        self._state.next_idx += 1
        return answer

    def _add_call(
        self, answer: Answer, block: Block, timestamp: datetime | None, chunk: Chunk
    ) -> None:
        key = call_key(block)
        if key in answer.calls:
            return
        input, command = tool_input(block)
        idx = len(answer.calls)
        chunk.tool_calls.append(
            PastToolCall(answer.idx, idx, block.name or "", input, command, timestamp)
        )
        answer.calls.append(key)
        self.session.is_warmup = False
        if block.id is not None:
            open_calls = self._state.open_calls
            if len(open_calls) >= MAX_OPEN_CALLS:
                del open_calls[next(iter(open_calls))]
            open_calls[block.id] = OpenCall(answer.idx, idx, block.name or "")

    def _read_outputs(self, content: Content, timestamp: datetime | None, chunk: Chunk) -> None:
        """Read the outputs of tools. A repeated line matches no open call."""
        open_calls = self._state.open_calls
        if not open_calls or not isinstance(content, list):
            return
        for block in content:
            id = answered_call(block) if isinstance(block, Block) else None
            call = None if id is None else open_calls.pop(id, None)
            if call is None or not isinstance(block, Block):
                continue
            is_error = bytes(block.is_error) == b"true"
            if call.tool in CONFIRMING_TOOLS and not is_error:
                continue
            text = output_text(block)
            if text or is_error:
                chunk.outputs.append(
                    PastOutput(call.message_idx, call.idx, call.tool, text, timestamp, is_error)
                )

    def _add_usage(self, id: str, answer: Answer | None, line: Line, chunk: Chunk) -> None:
        """Every line of an answer repeats its usage so far, so only the maximum counts."""
        message = line.message
        usage = message.usage if message is not None else None
        if usage is not None:
            tokens = (
                usage.input_tokens or 0,
                usage.output_tokens or 0,
                usage.cache_read_input_tokens or 0,
                usage.cache_creation_input_tokens or 0,
            )
        elif line.inputTokens is not None or line.outputTokens is not None:
            tokens = (line.inputTokens or 0, line.outputTokens or 0, 0, 0)
        else:
            return
        before = answer.tokens if answer is not None else None
        if before == tokens:
            return
        if before is not None:
            tokens = (
                max(before[0], tokens[0]),
                max(before[1], tokens[1]),
                max(before[2], tokens[2]),
                max(before[3], tokens[3]),
            )
            if before == tokens:
                return
        if answer is not None:
            answer.tokens = tokens
        chunk.usages.append(PastUsage(id, self.session.model, line.timestamp, *tokens))

    def _read_prompt(
        self, content: Content, is_injected: bool, line: Line, offset: int, chunk: Chunk
    ) -> None:
        """Read a person's prompt, and the texts that Claude Code added to it."""
        texts = texts_of(content)
        if not texts or self._is_repeat(line, offset):
            return
        timestamp = line.timestamp
        typed: list[str] = []
        added: list[str] = []
        for text in texts:
            if is_injected or text.startswith(NOT_TYPED):
                if not text.startswith(BOILERPLATE):
                    added.append(text)
            else:
                typed.append(text)
        if added:
            if added[-1].startswith(INTERRUPTED):
                self._add_turn("stopped", None, line, chunk)
            self._add_message("system", "\n\n".join(added), timestamp, chunk)
        if typed:
            prompt = "\n\n".join(typed)
            self._detect_warmup(self._state.next_idx, prompt)
            role = "system" if self.session.is_warmup else "user"
            self._add_message(role, prompt, timestamp, chunk)

    def _detect_warmup(self, idx: int, text: str) -> None:
        if idx == 0 and self.session.is_subagent:
            self.session.is_warmup = text.endswith(WARMUP) and len(text) < 2 * len(WARMUP)

    def _add_message(self, role: str, text: str, timestamp: datetime | None, chunk: Chunk) -> None:
        if text:
            chunk.messages.append(PastMessage(self._state.next_idx, role, text, None, timestamp))
            self._state.next_idx += 1

    def _add_turn(self, outcome: str, error: str | None, line: Line, chunk: Chunk) -> None:
        """Add a turn that was cut short; the file doesn't record who caused it."""
        key = line.uuid or str(self._state.next_idx)
        chunk.turns.append(PastTurn(key, None, outcome, error, line.timestamp))

    def _add_system_message(self, texts: list[str], line: Line, offset: int, chunk: Chunk) -> None:
        """Add a message from Claude Code itself, not from the model."""
        if texts and not self._is_repeat(line, offset):
            self._add_message("system", "\n\n".join(texts), line.timestamp, chunk)

    def _read_other(self, line: Line, offset: int, chunk: Chunk) -> None:
        kind = line.type or "(no type)"
        if kind == "system":
            self._add_system_message(texts_of(line.content), line, offset, chunk)
        elif kind == "attachment":
            self._read_attachment(line, offset, chunk)
        elif kind == "summary":
            self._set_title(1, line.summary, keep_first=True)
        elif kind == "ai-title":
            self._set_title(2, line.aiTitle)
        elif kind == "custom-title":
            self._set_title(3, line.customTitle)
        elif kind not in IGNORED:
            counts = self.session.unknown_kinds
            counts[kind] = counts.get(kind, 0) + 1

    def _read_attachment(self, line: Line, offset: int, chunk: Chunk) -> None:
        """Read a prompt that was typed while the agent was busy, which is recorded only here."""
        attachment = line.attachment
        if attachment is None or attachment.type != "queued_command":
            return
        is_typed = attachment.commandMode in (None, "prompt") and (
            attachment.origin is None or attachment.origin.kind in (None, "human")
        )
        self._read_prompt(attachment.prompt, not is_typed, line, offset, chunk)

    def _set_title(self, rank: int, title: str | None, keep_first: bool = False) -> None:
        """Set the title, unless one of a higher rank is set.

        `keep_first` also keeps one of the same rank.
        """
        current_rank = self._state.title_rank
        if title and (rank > current_rank or (rank == current_rank and not keep_first)):
            self.session.title = title
            self._state.title_rank = rank
