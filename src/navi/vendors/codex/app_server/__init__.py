"""Runs turns through `codex app-server`, which may ask a person; `codex exec` never does.

It speaks JSON-RPC: one message per line, without the field `jsonrpc`. Navi starts one per turn and
talks to it through the files of a detached run instead of a socket, so a later Navi server finds
everything that it said, and nothing keeps running between turns.

arguments.py      translates a person's `codex exec` arguments for the app-server
requests.py       what Navi writes to it
questions.py      what it asks, and how it gets the answers
stream.py         turns its output into events
shared_server.py  an app-server that Codex in a pane shares with Navi
"""
