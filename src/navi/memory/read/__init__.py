"""What people wait for: search, list, show, count. Keep imports light.

search.py              search the full text
ranking.py             the order of the hits: sessions by their best passages
query.py               what a person typed, parsed
query_filters.py       the filters inside it, such as agent:codex
snippets.py            the part of a text that shows the match
excerpts.py            the messages around a match, or the last ones of a session
full_text.py           opens the tantivy folder for reading
session_list.py        sessions, latest first
session_lookup.py      a session by our id or its agent's, or by the start of one
session_transcript.py  one session with everything said and done in it
statistics.py          counts of sessions, messages, tools, commands, tokens
copies.py              messages that a resumed session copied from another one
json_views.py          these values as JSON, with secrets masked
health.py              the state of the index, for `recall doctor`
"""
