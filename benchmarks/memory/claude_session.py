"""Sessions in the format of Claude Code 2.1.325, or of 2.1.70, which has no copies of requests."""

from __future__ import annotations

import re
from random import Random

from benchmarks.memory.session import Session, text
from benchmarks.memory.truth import Tokens

FILE_TOOLS = ("Read", "Edit", "Write", "Grep")


class ClaudeSession(Session):
    def __init__(
        self, seed: int, random: Random, id: str, *, is_today: bool, parent: str | None = None
    ) -> None:
        super().__init__(seed, random, id, is_today=is_today)
        self._model = random.choice(("claude-opus-5-5", "claude-sonnet-4-6"))
        version = "2.1.325" if is_today else "2.1.70"
        side = f'"isSidechain":{"false" if parent is None else "true"},'
        agent = "" if parent is None else f'"agentId":{text(id.removeprefix("agent-"))},'
        place = (
            f'"cwd":{text(self.cwd)},"sessionId":"{parent or id}","version":"{version}",'
            f'"gitBranch":{text(self.branch)}'
        )
        self._start = f"{side}{agent}" + ("" if is_today else f'"userType":"external",{place},')
        self._end = f',"userType":"external","entrypoint":"cli",{place}}}' if is_today else "}"
        self._uuid = "null"
        self._context = 3_000 + int(random.random() * 9_000)

    @property
    def folder(self) -> str:
        return re.sub("[^A-Za-z0-9]", "-", self.cwd)

    def begin(self) -> None:
        if not self.is_today:
            return
        self.put(f'{{"type":"mode","mode":"normal","sessionId":"{self.id}"}}')
        self._attach(
            '{"type":"environment","snapshot":{"workingDirectory":' + text(self.cwd) + "}}"
        )
        listing = self.texts.sentences(180)
        self._attach(f'{{"type":"skill_listing","content":{text(listing)},"skillCount":13}}')
        system = self.texts.prose(500)
        self._attach(f'{{"type":"prompt_snapshot","systemPrompt":[{text(system)}]}}')

    def turn(self, prompt: str) -> None:
        content = text(prompt)
        turned = ""
        if self.is_today:
            turned = ',"promptSource":"typed","turnOrigin":"human","turnPosition":{"promptIndex":1}'
        self._put_user(f'"content":{content}', f',"permissionMode":"default"{turned}')
        self.truth.messages += 1
        steps = 1 + int(self.random.expovariate(1 / 2.4))
        for step in range(steps):
            if self.is_today:
                self._request(content if step == 0 else None)
            self._answer(is_last=step == steps - 1)
        self.put(
            f'{{"type":"last-prompt","lastPrompt":{text(prompt[:200])},"sessionId":"{self.id}"}}'
        )

    def torn(self) -> str:
        words = text(self.texts.prose(40))
        return (
            f'{{"parentUuid":{self._uuid},{self._start}"type":"user","message":{{"content":{words}'
        )

    def _answer(self, *, is_last: bool) -> None:
        random = self.random.random
        calls = [] if is_last else [self._call() for _ in range(1 + (random() < 0.12))]
        blocks = []
        if random() < 0.4:
            blocks.append(
                f'{{"type":"thinking","thinking":{text(self.thought())},'
                f'"signature":"{self.hex(300)}"}}'
            )
        if is_last or random() < 0.6:
            blocks.append(f'{{"type":"text","text":{text(self.answer())}}}')
        blocks += [
            f'{{"type":"tool_use","id":"{id}","name":"{name}","input":{arguments}}}'
            for id, name, arguments, _ in calls
        ]
        self.truth.messages += 1
        id, spent = f"msg_{self.hex()}", self._spend()
        for number, block in enumerate(blocks):
            # In the older version only the last line of an answer has its final length.
            is_partial = not self.is_today and number < len(blocks) - 1
            output = 1 if is_partial else spent.output
            reason = "null" if is_partial else '"end_turn"' if is_last else '"tool_use"'
            self._put_answer(id, block, number, spent, output, reason)
        for call, _name, _arguments, result in calls:
            content = text(self.output()) if result is None else text(result)
            beside = f'"stdout":{content},"stderr":"","interrupted":false,"isImage":false'
            self._put_user(
                f'"content":[{{"tool_use_id":"{call}","type":"tool_result","content":{content},'
                '"is_error":false}]',
                f',"toolUseResult":{{{beside}}},"sourceToolAssistantUUID":{self._uuid}',
            )

    def _call(self) -> tuple[str, str, str, str | None]:
        """Id, name, input as JSON, and the result unless it is a command's output."""
        self.truth.tool_calls += 1
        id = f"toolu_{self.hex()}"
        if self.random.random() < 0.55:
            self.truth.commands += 1
            command = self.texts.command()
            what = self.texts.sentences(4)
            return id, "Bash", f'{{"command":{text(command)},"description":{text(what)}}}', None
        name, path = self.texts.one_of(FILE_TOOLS), f"{self.cwd}/{self.texts.path()}"
        if name == "Edit":
            old, new = self.texts.code(3), self.texts.code(4)
            arguments = (
                f'"file_path":{text(path)},"old_string":{text(old)},"new_string":{text(new)}'
            )
            self.truth.tool_results += 1
            return id, name, f"{{{arguments}}}", f"The file {path} has been updated successfully."
        if name == "Write":
            content = self.texts.code(self.texts.length(12, 0.9))
            self.truth.tool_results += 1
            arguments = f'"file_path":{text(path)},"content":{text(content)}'
            return id, name, f"{{{arguments}}}", f"File created successfully at: {path}"
        if name == "Grep":
            return id, name, f'{{"pattern":{text(self.texts.name())},"path":{text(path)}}}', None
        return id, name, f'{{"file_path":{text(path)}}}', None

    def _spend(self) -> Tokens:
        random = self.random.random
        made = int(random() * 2_500)
        spent = Tokens(3 + int(random() * 40), 20 + int(random() * 900), self._context, made)
        self._context = (self._context + made) % 180_000
        self.truth.claude.add(spent)
        return spent

    def _put_answer(
        self, id: str, block: str, number: int, spent: Tokens, output: int, reason: str
    ) -> None:
        more = ',"output_tokens_details":{"thinking_tokens":0}' if self.is_today else ""
        usage = (
            f'{{"input_tokens":{spent.input},"cache_creation_input_tokens":{spent.cache_creation},'
            f'"cache_read_input_tokens":{spent.cache_read},"output_tokens":{output}{more},'
            '"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},'
            '"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,'
            f'"ephemeral_5m_input_tokens":{spent.cache_creation}}},"inference_geo":"",'
            '"iterations":[],"speed":"standard"}'
        )
        request = f'"requestId":"req_{id[4:]}",'
        if self.is_today:
            request = (
                f'"apiBlockIndex":{number},{request}"requestedModel":"{self._model}",'
                '"promptCacheRequested":"5m",'
            )
        self._put(
            f'"message":{{"id":"{id}","type":"message","role":"assistant","content":[{block}],'
            f'"model":"{self._model}","stop_reason":{reason},"stop_sequence":null,"usage":{usage}}},'
            f'{request}"type":"assistant",',
            ',"effort":"medium","perTurnEffort":"medium","madeBy":"model"' if self.is_today else "",
        )

    def _put_user(self, content: str, more: str) -> None:
        self._put(f'"type":"user","message":{{"role":"user",{content}}},', more)

    def _attach(self, attachment: str) -> None:
        self._put(f'"attachment":{attachment},"type":"attachment",', ',"renderedRole":"system"')

    def _put(self, first: str, more: str) -> None:
        before, self._uuid = self._uuid, f'"{self.uuid()}"'
        self.put(
            f'{{"parentUuid":{before},{self._start}{first}"uuid":{self._uuid},'
            f'"timestamp":"{self.moment()}"{more}{self._end}'
        )

    def _request(self, content: str | None) -> None:
        """The copy of each request that the newer client keeps beside the conversation."""
        if content is not None:
            self.put(
                f'{{"type":"api-request-blob","sessionId":"{self.id}","hash":"{self.hex(64)}",'
                f'"message":{{"role":"user","content":[{{"type":"text","text":{content}}}]}}}}'
            )
        self.put(
            f'{{"type":"api-request","sessionId":"{self.id}","id":"{self.uuid()}","timestamp":'
            f'"{self.moment()}","version":"2.1.325","querySource":"repl_main_thread","shapeHash":'
            f'"{self.hex(64)}","params":{{"model":"{self._model}","betas":["claude-code-20250219",'
            '"interleaved-thinking-2025-05-14","context-management-2025-06-27",'
            '"effort-2025-11-24"],"max_tokens":128000,"thinking":{"type":"adaptive"},'
            '"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},'
            '"output_config":{"effort":"medium"}},"keep":0,"tail":["'
            f'{self.hex(64)}","{self.hex(64)}"],"requestDigest":"{self.hex(64)}"}}'
        )
