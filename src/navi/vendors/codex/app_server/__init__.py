"""Runs turns through `codex app-server`, which may ask a person; `codex exec` never does.

It speaks JSON-RPC: one message per line, without the field `jsonrpc`. Navi starts one per turn and
exchanges messages with it through the files of a detached run instead of a socket. So a restarted
Navi server finds all of its messages, and nothing keeps running between turns.

arguments.py      translates a person's `codex exec` arguments for the app-server
requests.py       the messages that Navi sends to it
questions.py      its questions, and the answers to them
stream.py         turns its output into events
shared_server.py  an app-server that Codex in a pane shares with Navi
"""
