"""Claude Code's transcripts: `projects/<folder>/<session id>.jsonl`.

An answer is written one content block per line, and its lines share `message.id`: they become one
message here. Lines of other answers may stand between them, so the last few stay open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from navi.domain.history import FoundFile, PastMessage, PastToolCall, PastUsage
from navi.sources.damage import mended
from navi.sources.lines import LineReading, Transcript, stretch_at
from navi.sources.source import Chunk, Reading

IGNORED = frozenset(
    (
        *("agent-color", "agent-name", "agent-setting", "api-request", "api-request-blob"),
        *("api-request-shape", "atis-latch", "attribution-snapshot", "content-replacement"),
        *("cost-state", "file-history-delta", "file-history-snapshot", "last-prompt", "mode"),
        *("permission-mode", "pr-link", "progress", "queue-operation", "tag", "tools-used"),
        "worktree-state",
    )
)
"""Kinds of lines that hold nothing said or done: the client's own notes, and copies."""
IGNORED_AT_START = frozenset(b'{"type":"' + kind.encode() + b'"' for kind in IGNORED)

ATTACHMENT = b'"attachment":{"type":"'
QUEUED = ATTACHMENT + b'queued_command"'
ATTACHMENT_WITHIN = 160
"""Bytes: an attachment says so before its content begins, a message can't say so there."""

NOT_TYPED = (
    *("<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-"),
    *("<task-notification>", "<system-reminder>", "<teammate-message", "<user-prompt-submit-hook>"),
    *("<ide_opened_file>", "<ide_selection>", "<new-diagnostics>"),
    "[Request interrupted by user",
)
"""How texts begin that a client wrote under the user's name."""

SHELLS = frozenset(("Bash", "BashOutput"))
CLIENT_ITSELF = "<synthetic>"
WARMUP = "Warmup"
OPEN_ANSWERS = 8
"""How many answers may be written at the same time: the main one and those of sub-agents."""

Tokens = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class Usage(msgspec.Struct):
    input_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    cache_read_input_tokens: Tokens | None = None
    cache_creation_input_tokens: Tokens | None = None


class Block(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"")


class Message(msgspec.Struct):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    content: str | list[Block | str] | None = None
    usage: Usage | None = None


class Origin(msgspec.Struct):
    kind: str | None = None


class Attachment(msgspec.Struct):
    type: str = ""
    prompt: str | list[Block | str] | None = None
    commandMode: str | None = None
    origin: Origin | None = None


class Line(msgspec.Struct):
    type: str | None = None
    message: Message | None = None
    timestamp: datetime | None = None
    sessionId: str | None = None
    cwd: str | None = None
    gitBranch: str | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    attachment: Attachment | None = None
    summary: str | None = None
    customTitle: str | None = None
    aiTitle: str | None = None
    content: str | list[Block | str] | None = None
    uuid: str | None = None
    inputTokens: Tokens | None = None
    outputTokens: Tokens | None = None


class Command(msgspec.Struct):
    command: str | None = None


DOUBTFUL = frozenset(
    ("timestamp", "cwd", "gitBranch", "isMeta", "isCompactSummary", "usage", "origin", "uuid")
)
_lines = msgspec.json.Decoder(Line)
_commands = msgspec.json.Decoder(Command)


class Answer(msgspec.Struct):
    """An answer that may go on: which message it is, and what it has so far."""

    idx: int
    calls: int
    """How many tool calls it has."""
    usage: tuple[int, int, int, int] | None
    places: list[tuple[int, int]]
    """Offset and length of the lines with its texts, by which a later reading finds them again."""


class State(msgspec.Struct):
    next_idx: int
    title_rank: int
    has_started: bool
    answers: dict[str, Answer]


class ClaudeCode:
    name = "claude_code"

    def discover(self) -> Iterator[FoundFile]:
        home = os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude"
        projects = os.path.join(home, "projects")
        for folder in _entries(projects):
            if folder.is_dir():
                yield from _transcripts(folder.path)

    def read(self, file: FoundFile, mark: bytes | None = None) -> Reading:
        return LineReading(file, ClaudeCodeTranscript(file.path), mark)

    def resume_command(self, source_session_id: str, cwd: str | None) -> list[str] | None:
        if source_session_id.startswith("agent-"):
            return None
        return ["claude", "--resume", source_session_id]


def _transcripts(project: str) -> Iterator[FoundFile]:
    for entry in _entries(project):
        if entry.name.endswith(".jsonl"):
            yield from _found(entry)
        elif entry.is_dir(follow_symlinks=False):
            for agent in _entries(os.path.join(entry.path, "subagents")):
                if agent.name.startswith("agent-") and agent.name.endswith(".jsonl"):
                    yield from _found(agent)


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def _found(entry: os.DirEntry[str]) -> Iterator[FoundFile]:
    try:
        found = entry.stat()
    except OSError:
        return
    if found.st_size and entry.is_file():
        yield FoundFile(entry.path, found.st_mtime, found.st_size)


class ClaudeCodeTranscript(Transcript):
    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._next_idx = 0
        self._title_rank = 0
        self._has_started = False
        self._answers: dict[str, Answer] = {}
        self._texts: dict[str, tuple[list[str], list[str]]] = {}
        """Content and thinking of the open answers."""

    def state(self) -> bytes:
        return msgspec.json.encode(
            State(self._next_idx, self._title_rank, self._has_started, self._answers)
        )

    def restore(self, state: bytes, file: BinaryIO) -> None:
        found = msgspec.json.decode(state, type=State)
        self._next_idx = found.next_idx
        self._title_rank = found.title_rank
        self._has_started = found.has_started
        self._answers = found.answers
        for id, answer in found.answers.items():
            texts: tuple[list[str], list[str]] = ([], [])
            for offset, length in answer.places:
                line = _decoded(stretch_at(file, offset, length))
                if line is not None and line.message is not None:
                    _collect(line.message.content, texts)
            self._texts[id] = texts

    def take(self, lines: list[bytes], offset: int, chunk: Chunk) -> None:
        decode = _lines.decode
        last_at: datetime | None = None
        next_offset = offset
        for text in lines:
            offset = next_offset
            next_offset = offset + len(text) + 1
            if text.startswith(b'{"type":"') and text[: text.find(b'"', 9, 60) + 1] in (
                IGNORED_AT_START
            ):
                continue
            at = text.find(ATTACHMENT, 0, ATTACHMENT_WITHIN)
            if at >= 0 and not text.startswith(QUEUED, at):
                continue
            try:
                line = decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                if not text or text.isspace():
                    continue
                saved = _decoded(text)
                if saved is None:
                    self.session.bad_lines += 1
                    continue
                line = saved
            if line.timestamp is not None:
                last_at = line.timestamp
            if not self._has_started:
                self._start(line)
            kind = line.type
            if kind == "assistant":
                self._assistant(line, offset, len(text), chunk)
            elif kind == "user":
                self._user(line, chunk)
            else:
                self._other(line, chunk)
        session = self.session
        if last_at is not None and (session.ended_at is None or last_at > session.ended_at):
            session.ended_at = last_at

    def _start(self, line: Line) -> None:
        """What the first line that says anything of the session says."""
        if line.sessionId is None or line.timestamp is None:
            return
        self._has_started = True
        session = self.session
        session.started_at = line.timestamp
        session.cwd = line.cwd
        session.git_branch = line.gitBranch
        session.source_session_id = line.sessionId
        stem = os.path.basename(self.path).removesuffix(".jsonl")
        if stem.startswith("agent-"):
            # A sub-agent's lines carry the id of the session that started it.
            session.is_subagent = True
            session.source_session_id = stem
            session.parent_source_session_id = line.sessionId

    def _assistant(self, line: Line, offset: int, length: int, chunk: Chunk) -> None:
        message = line.message
        if message is None:
            return
        content = message.content
        if message.model == CLIENT_ITSELF:
            self._say("system", _text_of(content), line.timestamp, chunk)
            return
        if message.model is not None:
            self.session.model = message.model
        id = message.id or line.uuid or f"{self.session.source_session_id}:{self._next_idx}"
        answer = self._answers.get(id)
        if answer is None:
            answer = self._open(id)
        texts = self._texts[id]
        if _collect(content, texts) or not answer.places:
            answer.places.append((offset, length))
            said, thought = texts
            chunk.messages.append(
                PastMessage(
                    answer.idx,
                    "assistant",
                    "\n\n".join(said) or None,
                    "\n\n".join(thought) or None,
                    line.timestamp,
                )
            )
        if content.__class__ is list:
            for block in content:
                if block.__class__ is Block and block.name is not None:
                    self._call(answer, block, line.timestamp, chunk)
        self._spend(id, answer, line, chunk)

    def _open(self, id: str) -> Answer:
        if len(self._answers) >= OPEN_ANSWERS:
            oldest = next(iter(self._answers))
            del self._answers[oldest], self._texts[oldest]
        answer = self._answers[id] = Answer(self._next_idx, 0, None, [])
        self._texts[id] = ([], [])
        self._next_idx += 1
        return answer

    def _call(self, answer: Answer, block: Block, timestamp: datetime | None, chunk: Chunk) -> None:
        name = block.name or ""
        given = str(block.input, "utf-8") if block.input else None
        command = None
        if name in SHELLS:
            try:
                command = _commands.decode(block.input).command
            except msgspec.DecodeError:
                pass
        chunk.tool_calls.append(
            PastToolCall(answer.idx, answer.calls, name, given, command, timestamp)
        )
        answer.calls += 1

    def _spend(self, id: str, answer: Answer, line: Line, chunk: Chunk) -> None:
        message = line.message
        usage = message.usage if message is not None else None
        if usage is not None:
            spent = (
                usage.input_tokens or 0,
                usage.output_tokens or 0,
                usage.cache_read_input_tokens or 0,
                usage.cache_creation_input_tokens or 0,
            )
        elif line.inputTokens is not None or line.outputTokens is not None:
            spent = (line.inputTokens or 0, line.outputTokens or 0, 0, 0)
        else:
            return
        before = answer.usage
        if before == spent:
            return
        if before is not None:
            spent = tuple(map(max, before, spent))  # type: ignore[assignment]
            if before == spent:
                return
        answer.usage = spent
        model = message.model if message is not None else None
        chunk.usages.append(PastUsage(id, model, line.timestamp, *spent))

    def _user(self, line: Line, chunk: Chunk) -> None:
        message = line.message
        if message is None:
            return
        is_injected = bool(line.isMeta or line.isCompactSummary)
        self._typed(message.content, is_injected, line.timestamp, chunk)

    def _typed(
        self,
        content: str | list[Block | str] | None,
        is_injected: bool,
        timestamp: datetime | None,
        chunk: Chunk,
    ) -> None:
        """A person's words, and what the client put between them."""
        if content.__class__ is str:
            texts = [content]
        else:
            texts = [text for block in content or () if (text := _text(block)) is not None]
            if not texts:
                return
        typed = [] if is_injected else [text for text in texts if not text.startswith(NOT_TYPED)]
        if len(typed) < len(texts):
            put = [text for text in texts if text not in typed]
            self._say("system", "\n\n".join(put), timestamp, chunk)
        if typed:
            self._say("user", "\n\n".join(typed), timestamp, chunk)

    def _say(self, role: str, text: str, timestamp: datetime | None, chunk: Chunk) -> None:
        if text:
            chunk.messages.append(PastMessage(self._next_idx, role, text, None, timestamp))
            self._next_idx += 1

    def _other(self, line: Line, chunk: Chunk) -> None:
        kind = line.type or "(no type)"
        if kind == "system":
            self._say("system", _text_of(line.content), line.timestamp, chunk)
        elif kind == "attachment":
            self._attached(line, chunk)
        elif kind == "summary":
            self._entitle(1, line.summary, keeps_first=True)
        elif kind == "ai-title":
            self._entitle(2, line.aiTitle)
        elif kind == "custom-title":
            self._entitle(3, line.customTitle)
        elif kind not in IGNORED:
            counts = self.session.unknown_kinds
            counts[kind] = counts.get(kind, 0) + 1

    def _attached(self, line: Line, chunk: Chunk) -> None:
        attachment = line.attachment
        if attachment is None or attachment.type != "queued_command":
            return
        is_typed = attachment.commandMode in (None, "prompt") and (
            attachment.origin is None or attachment.origin.kind in (None, "human")
        )
        self._typed(attachment.prompt, not is_typed, line.timestamp, chunk)

    def _entitle(self, rank: int, title: str | None, keeps_first: bool = False) -> None:
        """The name a person gave wins over a made one; otherwise the newest."""
        if title and (rank > self._title_rank or (rank == self._title_rank and not keeps_first)):
            self.session.title = title
            self._title_rank = rank


def _decoded(text: bytes) -> Line | None:
    try:
        return _lines.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return mended(text, _lines, DOUBTFUL)


def _collect(content: str | list[Block | str] | None, texts: tuple[list[str], list[str]]) -> bool:
    """Add what an answer's line says and thinks; whether it did either."""
    if content is None:
        return False
    if isinstance(content, str):
        if content:
            texts[0].append(content)
        return bool(content)
    is_more = False
    for block in content:
        if isinstance(block, str):
            texts[0].append(block)
            is_more = True
        elif block.type == "text" and block.text:
            texts[0].append(block.text)
            is_more = True
        elif block.thinking:
            texts[1].append(block.thinking)
            is_more = True
    return is_more


def _text_of(content: str | list[Block | str] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n\n".join(text for block in content if (text := _text(block)) is not None)


def _text(block: Block | str) -> str | None:
    if isinstance(block, str):
        return block
    return block.text if block.type == "text" else None
