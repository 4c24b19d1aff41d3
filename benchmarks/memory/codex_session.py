"""Sessions in the format of Codex 0.166, with numbered lines and token records, or of 0.145."""

from __future__ import annotations

from random import Random

from benchmarks.memory.session import Session, text
from benchmarks.memory.truth import Tokens

LIMITS = (
    '"rate_limits":{"limit_id":"codex","limit_name":null,"primary":null,"secondary":null,'
    '"credits":null,"plan_type":null,"rate_limit_reached_type":null}'
)


class CodexSession(Session):
    def __init__(self, seed: int, random: Random, id: str, *, is_today: bool) -> None:
        super().__init__(seed, random, id, is_today=is_today)
        self._ordinal = 0
        self._total = Tokens()
        self._context = 4_000 + int(random.random() * 9_000)
        self._turn = self.uuid()
        self.started_at = self.now

    @property
    def path(self) -> str:
        at = self.started_at
        return f"{at:%Y/%m/%d}/rollout-{at:%Y-%m-%dT%H-%M-%S}-{self.id}.jsonl"

    def begin(self) -> None:
        version, mode = ("0.166.0", "paginated") if self.is_today else ("0.145.0", "legacy")
        base = text(self.texts.prose(900))
        self._put(
            "session_meta",
            f'"session_id":"{self.id}","id":"{self.id}","timestamp":"{self.moment()}",'
            f'"cwd":{text(self.cwd)},"originator":"codex_cli","cli_version":"{version}",'
            f'"source":"cli","model_provider":"openai","base_instructions":{{"text":{base}}},'
            f'"history_mode":"{mode}","git":{{"commit_hash":"{self.hex(40)}",'
            f'"branch":{text(self.branch)}}}',
        )
        rules, where = self.texts.prose(120), f"<cwd>{self.cwd}</cwd>\n  <shell>bash</shell>"
        self._put_message("developer", "input_text", rules)
        self._put_message(
            "user",
            "input_text",
            f"<environment_context>\n  {where}\n</environment_context>",
        )

    def turn(self, prompt: str) -> None:
        self._turn = self.uuid()
        self._event(f'"type":"task_started","turn_id":"{self._turn}","model_context_window":258400')
        self._put(
            "turn_context",
            f'"turn_id":"{self._turn}","cwd":{text(self.cwd)},"approval_policy":"never",'
            '"sandbox_policy":{"type":"danger-full-access"},"model":"gpt-5.5",'
            '"collaboration_mode":{"mode":"default","settings":{"model":"gpt-5.5",'
            '"reasoning_effort":null,"developer_instructions":null}},"summary":"auto"',
        )
        self._put_message("user", "input_text", prompt)
        self.truth.messages += 1
        if self.is_today:
            self._completed("UserMessage", f'"content":[{{"type":"text","text":{text(prompt)}}}]')
        else:
            self._event(f'"type":"user_message","message":{text(prompt)},"images":[]')
        steps = 1 + int(self.random.expovariate(1 / 2.4))
        for step in range(steps):
            self._step(is_last=step == steps - 1)
        self._event(f'"type":"task_complete","turn_id":"{self._turn}","duration_ms":8630')

    def torn(self) -> str:
        words = text(self.texts.prose(40))
        return (
            f'{{"timestamp":"{self.moment()}","type":"response_item","payload":{{"type":"message",'
            f'"role":"user","content":[{{"type":"input_text","text":{words}'
        )

    def _step(self, *, is_last: bool) -> None:
        random = self.random.random
        if random() < 0.4:
            self._think()
        if is_last or random() < 0.6:
            self._say(self.answer())
        call = None if is_last else self._call()
        spent = self._spend()
        if self.is_today:
            self._put(
                "token_usage_record",
                f'"thread_id":"{self.id}","turn_id":"{self._turn}","session_id":"{self.id}",'
                f'"response_id":"resp_{self.hex()}","usage":{_usage(spent)},'
                f'"turn_token_usage":{_usage(spent)},"thread_token_usage":{_usage(self._total)}',
            )
        if call is not None:
            self._put_output(*call)
        # Older clients repeat the count whenever the screen changes.
        for _ in range(1 if self.is_today or random() > 0.3 else 2):
            self._event(
                f'"type":"token_count","info":{{"total_token_usage":{_usage(self._total)},'
                f'"last_token_usage":{_usage(spent)},"model_context_window":258400}},{LIMITS}'
            )

    def _think(self) -> None:
        thought = text(self.thought())
        id = f"rs_{self.hex()}"
        self.truth.messages += 1
        if self.is_today:
            self._completed("Reasoning", f'"summary_text":[{thought}],"raw_content":[]', id)
        else:
            self._event(f'"type":"agent_reasoning","text":{thought}')
        self._item(
            f'"type":"reasoning","id":"{id}","summary":[{{"type":"summary_text","text":{thought}}}],'
            f'"content":null,"encrypted_content":"{self.hex(400)}"'
        )

    def _say(self, message: str) -> None:
        self.truth.messages += 1
        if self.is_today:
            self._completed("AgentMessage", f'"content":[{{"type":"Text","text":{text(message)}}}]')
        else:
            self._event(f'"type":"agent_message","message":{text(message)},"phase":null')
        self._put_message("assistant", "output_text", message)

    def _call(self) -> tuple[str, str | None]:
        """The call's id, and its command if it runs one."""
        self.truth.tool_calls += 1
        id = f"call_{self.hex()}"
        if self.random.random() < 0.75:
            self.truth.commands += 1
            command = self.texts.command()
            arguments = text(text({"cmd": command}))
            self._item(
                f'"type":"function_call","id":"fc_{id[5:]}","name":"exec_command",'
                f'"arguments":{arguments},"call_id":"{id}"'
            )
            return id, command
        lines = "\n".join(f"+{line}" for line in self.texts.code(6).split("\n"))
        patch = f"*** Begin Patch\n*** Update File: {self.texts.path()}\n@@\n{lines}\n*** End Patch"
        self._item(
            f'"type":"custom_tool_call","id":"ctc_{id[5:]}","call_id":"{id}",'
            f'"name":"apply_patch","input":{text(patch)}'
        )
        return id, None

    def _put_output(self, id: str, command: str | None) -> None:
        if command is None:
            self.truth.tool_results += 1
            done = text("Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM x.py\n")
            self._item(f'"type":"custom_tool_call_output","call_id":"{id}","output":{done}')
            return
        output = self.output()
        content = f"Chunk ID: {self.hex(6)}\nProcess exited with code 0\nOutput:\n{output}"
        if self.is_today:
            self._completed(
                "CommandExecution",
                f'"command":["/bin/bash","-lc",{text(command)}],"status":"completed",'
                f'"aggregated_output":{text(output)},"exit_code":0',
                id,
            )
        self._item(f'"type":"function_call_output","call_id":"{id}","output":{text(content)}')

    def _spend(self) -> Tokens:
        random = self.random.random
        spent = Tokens(30 + int(random() * 2_500), 20 + int(random() * 900), self._context)
        self._context = (self._context + spent.input) % 180_000
        self._total.add(spent)
        self.truth.codex.add(spent)
        return spent

    def _put_message(self, role: str, kind: str, message: str) -> None:
        self._item(
            f'"type":"message","id":"msg_{self.hex()}","role":"{role}",'
            f'"content":[{{"type":"{kind}","text":{text(message)}}}]'
        )

    def _item(self, payload: str) -> None:
        about = f'"internal_chat_message_metadata_passthrough":{{"turn_id":"{self._turn}"}}'
        self._put("response_item", f"{payload},{about}")

    def _event(self, payload: str) -> None:
        self._put("event_msg", payload)

    def _completed(self, kind: str, item: str, id: str = "") -> None:
        self._event(
            f'"type":"item_completed","thread_id":"{self.id}","turn_id":"{self._turn}",'
            f'"item":{{"type":"{kind}","id":"{id or self.uuid()}",{item}}},'
            '"started_at_ms":1794770158004,"completed_at_ms":1794770158005'
        )

    def _put(self, kind: str, payload: str) -> None:
        number = f'"ordinal":{self._ordinal},' if self.is_today else ""
        self._ordinal += 1
        self.put(
            f'{{"timestamp":"{self.moment()}",{number}"type":"{kind}","payload":{{{payload}}}}}'
        )


def _usage(tokens: Tokens) -> str:
    """Codex counts cached tokens as input too."""
    input_tokens = tokens.input + tokens.cache_read
    return (
        f'{{"input_tokens":{input_tokens},"cached_input_tokens":{tokens.cache_read},'
        f'"cache_write_input_tokens":0,"output_tokens":{tokens.output},'
        f'"reasoning_output_tokens":0,"total_tokens":{input_tokens + tokens.output}}}'
    )
