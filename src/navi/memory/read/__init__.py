"""Reads the index: search, list, show, count. People wait for it, so keep imports light.

search.py              search the full text
ranking.py             the order of the hits: sessions by their best passages
query.py               parses a search query
query_filters.py       reads the filters inside a query, such as agent:codex
snippets.py            the part of a text that shows the match
excerpts.py            the messages around a match, or the last ones of a session
full_text.py           opens the tantivy folder for reading
session_list.py        sessions, latest first
session_lookup.py      finds a session by its id or the agent's, or by the start of one
session_transcript.py  one session with all its messages and tool calls
statistics.py          counts of sessions, messages, tools, commands, tokens
copies.py              messages that a resumed session copied from another one
json_views.py          sessions and hits as JSON, with secrets masked
health.py              the state of the index, for `recall doctor`
"""
