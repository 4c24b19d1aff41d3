"""The program that agents run as a hook: reports to the server, and prints the server's answer.

Agents wait for their hooks, so this file stands alone: it is run by path, imports next to nothing,
exits at once if there is no server, and never fails. Its arguments are the kind of agent, the
server's address and the token's file. `navi setup` writes this command into an agent's settings;
Navi also passes it to the agents that it starts.

Two events of Claude Code are special:

`PermissionRequest` waits for a person. Claude Code reports it while its own dialog is on the
screen. The hook keeps asking the server until somebody decides, even across a restart of the
server, and prints the decision. When in doubt it prints nothing, and the dialog decides.

`PreToolUse` does not contact the server. In Navi's runs, Claude Code reports it before it offers a
choice or a plan. The hook then makes Claude Code exit until a person has decided: see `defer`.

The names of events repeat those of `navi/vendors`, which can't be imported here;
`tests/integration/vendors/test_hook.py` compares them.
"""

import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator

CONNECT_SECONDS = 0.03
# A stopping agent waits this long for its next prompt: longer than the server should take, because
# a prompt that comes too late goes back to the queue.
ANSWER_SECONDS = 5.0
# After a tool call, an agent waits this long for a nudge: a hanging server must not hold it up.
# `terminal_service.py` relies on this limit: it sends no nudge to a hook that may have exited.
NUDGE_SECONDS = 1.0
# How long a dialog can be answered outside the terminal. The limit in Claude Code's settings
# (`vendors/claude_code/hooks.py`) is a little longer, because Claude Code shows hooks that pass it.
DECISION_SECONDS = 7 * 86_400 - 60
# How long to retry while a server may have received the question without confirming it.
ACCEPTED_SECONDS = 60.0
# The server's status while nobody has decided. The server sends it well before POLL_SECONDS.
STILL_OPEN = 202
POLL_SECONDS = 40.0
# A restarting server is back within seconds.
RETRY_SECONDS = 1.0
# How often to check that the agent is still running.
WATCH_SECONDS = 1.0


def main() -> None:
    driver, address, token_file = sys.argv[1:4]
    report = sys.stdin.buffer.read()
    event = report.partition(b'"hook_event_name"')[2][:40]
    is_run_by_navi = "NAVI_SESSION_ID" in os.environ
    is_claude_code = driver == "claude_code"
    if is_claude_code and b'"PreToolUse"' in event:
        defer(report)
        return
    may_be_nudged = is_claude_code and b'"PostToolUse"' in event
    may_ask = is_claude_code and b'"PermissionRequest"' in event
    if may_ask and not shows_dialogs():
        return  # without a dialog, nobody could decide if the server does not answer
    if (
        is_run_by_navi
        and not may_be_nudged
        and not may_ask
        and not is_about_compaction(event, report)
    ):
        return  # the agent's driver reports everything else
    token = os.environ.get("NAVI_TOKEN")
    if token is None:
        with open(token_file) as file:
            token = file.read().strip()
    call = b'"call": "terminal-%s", ' % os.urandom(8).hex().encode() if may_ask else b""
    body = b'{%s"emitted_at": %.6f, "is_run_by_navi": %s, "hook": %s}' % (
        call,
        time.time(),
        b"true" if is_run_by_navi else b"false",
        report.strip() or b"{}",
    )
    url = next(addresses(address, token_file), None)
    if url is None:
        return  # no server runs, and only a running one has an address
    if may_ask:
        wait_for_decision(driver, address, token_file, token, body)
        return
    connection = post(url, driver, token, body)
    connection.settimeout(NUDGE_SECONDS if may_be_nudged else ANSWER_SECONDS)
    may_get_prompt = not is_run_by_navi and b'"Stop"' in event
    if not may_be_nudged and not may_get_prompt:
        return
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    print_answer(*parse_response(answer))


def defer(report: bytes) -> None:
    """Make Claude Code defer the call and exit. It is started again once a person has decided.

    If this prints nothing, Claude Code asks and waits. That is right for a call that an earlier run
    has deferred, and while something else needs the process: a background task, a sub-agent, or
    another call of the same message.
    """
    import json

    folder, hook = os.environ.get("NAVI_RUN"), json.loads(report)
    if folder is None or "agent_id" in hook:
        return
    is_announced, is_busy = False, False
    call = b'"%s"' % hook["tool_use_id"].encode()
    with open(os.path.join(folder, "out"), "rb") as output:
        for line in output:
            is_announced = is_announced or call in line
            if b'"background_tasks_changed"' in line:
                is_busy = bool(json.loads(line).get("tasks"))
    if not is_announced or is_busy:
        return
    # Fails if another call was deferred: Claude Code would keep only one of them.
    os.close(os.open(os.path.join(folder, "deferred"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    decision = {"hookEventName": "PreToolUse", "permissionDecision": "defer"}
    print_answer(200, json.dumps({"hookSpecificOutput": decision}).encode())


def post(url: str, driver: str, token: str, body: bytes) -> socket.socket:
    """Send the report, and return the connection on which its answer comes."""
    netloc = url.split("//", 1)[1].rstrip("/")
    host, _, port = netloc.rpartition(":")
    head = (
        f"POST /hooks/{driver} HTTP/1.1\r\nHost: {netloc}\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS)
    connection.settimeout(ANSWER_SECONDS)
    connection.sendall(head.encode() + body)
    return connection


def parse_response(answer: bytes) -> tuple[int, bytes]:
    """The response's status and text. The status is 0 if the response is incomplete."""
    headers, _, text = answer.partition(b"\r\n\r\n")
    words = headers.split(b" ", 2)
    length = headers.lower().partition(b"content-length:")[2].split(b"\r\n")[0].strip()
    is_complete = not length.isdigit() or len(text) == int(length)
    return (int(words[1]) if is_complete and len(words) > 1 else 0), text


def print_answer(status: int, text: bytes) -> None:
    if status == 200 and text.strip() not in (b"", b"{}"):
        sys.stdout.buffer.write(text)


def wait_for_decision(driver: str, address: str, token_file: str, token: str, body: bytes) -> None:
    """Poll the server until somebody decides, in the terminal or elsewhere."""
    started_at = time.monotonic()
    deadline = started_at + ACCEPTED_SECONDS
    was_sent = False
    while time.monotonic() < deadline:
        status, text = 0, b""
        for url in addresses(address, token_file):
            try:
                connection = post(url, driver, token, body)
            except OSError:
                continue
            was_sent = True
            status, text = parse_response(read_while_agent_lives(connection))
            break
        if status == STILL_OPEN:
            deadline = started_at + DECISION_SECONDS
        elif 200 <= status < 500:
            print_answer(status, text)
            return
        pause = 0.0 if status == STILL_OPEN else RETRY_SECONDS
        if not was_sent or not is_agent_alive(pause):
            return  # without a server, don't wait for one


def read_while_agent_lives(connection: socket.socket) -> bytes:
    """The response, incomplete if it takes too long or if the agent or the server ends first."""
    deadline = time.monotonic() + POLL_SECONDS
    connection.settimeout(WATCH_SECONDS)
    answer = b""
    while time.monotonic() < deadline:
        try:
            chunk = connection.recv(65536)
        except TimeoutError:
            if is_agent_alive(0.0):
                continue
            break
        except OSError:
            break
        if not chunk:
            break
        answer += chunk
    return answer


def is_agent_alive(wait_seconds: float) -> bool:
    """Whether the agent still reads this process's output after `wait_seconds`."""
    import select

    agent = select.poll()
    agent.register(sys.stdout.fileno(), 0)  # reports only that the other end was closed
    return not agent.poll(wait_seconds * 1000)


def shows_dialogs() -> bool:
    """Whether Claude Code runs in a terminal, where the person can decide without Navi."""
    is_attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED", "1") == "1"
    return is_attended and os.environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"


def addresses(address: str, token_file: str) -> Iterator[str]:
    """The addresses at which the server may listen, the most likely first."""
    candidates = (os.environ.get("NAVI_URL"), served_address(token_file), address)
    yield from dict.fromkeys(each for each in candidates if each)


def served_address(token_file: str) -> str | None:
    """The address of the home's server; None unless a server holds the lock on its address file."""
    try:
        with open(os.path.join(os.path.dirname(token_file), "address")) as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read().strip()
    except OSError:
        pass
    return None


def is_about_compaction(event: bytes, report: bytes) -> bool:
    """Whether a compaction begins or has ended. Agents report its end as the start of a session."""
    return b'"PreCompact"' in event or (b'"SessionStart"' in event and b'"compact"' in report)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        pass  # a failing hook must never disturb an agent
