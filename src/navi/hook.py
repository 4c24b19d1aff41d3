"""The program that agents run as a hook: reports to the server, and prints the server's answer.

Agents wait for their hooks, so this file stands alone: it is run by path, imports next to nothing,
gives up at once if there is no server, and never fails. Its arguments are the kind of agent, the
server's address and the token's file. `navi setup` writes them; for an agent that Navi runs, Navi
writes them itself.

The names of events repeat those of `navi/vendors`, which can't be imported here;
`tests/integration/vendors/test_hook.py` compares them.
"""

import os
import socket
import sys
import time

CONNECT_SECONDS = 0.03
# Only an agent that stops may get an answer. This is longer than the server ever takes, because a
# late answer would be lost.
ANSWER_SECONDS = 5.0
# Agents use tools all the time, so a hanging server must not hold them up. The server knows this
# limit (`terminal_service.py`) and sends no nudge to a hook that may have given up.
NUDGE_SECONDS = 1.0


def main() -> None:
    driver, address, token_file = sys.argv[1:4]
    report = sys.stdin.buffer.read()
    event = report.partition(b'"hook_event_name"')[2][:40]
    is_run_by_navi = "NAVI_SESSION_ID" in os.environ
    may_be_nudged = driver == "claude_code" and b'"PostToolUse"' in event
    if is_run_by_navi and not may_be_nudged and not is_about_compaction(event, report):
        return  # Navi runs this agent and sees everything else itself
    token = os.environ.get("NAVI_TOKEN")
    if token is None:
        with open(token_file) as file:
            token = file.read().strip()
    host, _, port = os.environ.get("NAVI_URL", address).split("//", 1)[1].partition(":")
    body = b'{"emitted_at": %.6f, "is_run_by_navi": %s, "hook": %s}' % (
        time.time(),
        b"true" if is_run_by_navi else b"false",
        report.strip() or b"{}",
    )
    head = (
        f"POST /hooks/{driver} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    connection = socket.create_connection((host, int(port)), CONNECT_SECONDS)
    connection.settimeout(NUDGE_SECONDS if may_be_nudged else ANSWER_SECONDS)
    connection.sendall(head.encode() + body)
    may_go_on = not is_run_by_navi and b'"Stop"' in event
    if not may_be_nudged and not may_go_on:
        return
    answer = b""
    while chunk := connection.recv(65536):
        answer += chunk
    status, _, text = answer.partition(b"\r\n\r\n")
    if b" 200 " in status.split(b"\r\n", 1)[0] and text.strip() not in (b"", b"{}"):
        sys.stdout.buffer.write(text)


def is_about_compaction(event: bytes, report: bytes) -> bool:
    """Whether a compaction begins or has ended; after it, both agents start their session again."""
    return b'"PreCompact"' in event or (b'"SessionStart"' in event and b'"compact"' in report)


if __name__ == "__main__":
    try:
        main()
    except Exception:
        pass  # a failing hook must never disturb an agent
