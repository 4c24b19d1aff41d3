"""The memory: every session of every agent, indexed and searchable. Works without a server.

model.py           the values a source yields: sessions, messages, tool calls
for_agents/        answers for agents: quoted, within a token budget
hosts/             sessions of other machines: exchanged, received, indexed
ingest/            files to index: discover, read, write
keep/              copies of session files that their agents delete
overview/          what sessions did: two compared, or a digest of many
read/              search, list, show, count; quick to import, because people wait for it
semantic/          search by meaning: an extra that needs a model
index_paths.py     where the index and its settings are
index_settings.py  which texts are searchable
index_schema.py    the tables of the DuckDB file
index_errors.py    errors about the index
database.py        opens the DuckDB file
record_ids.py      stable ids for sessions, messages and tool calls
words.py           splits texts and queries into searchable words
file_paths.py      paths as searchable terms
file_damage.py     describes damage to an agent's file
tags.py            tags that people give to sessions
prices.py          what tokens cost
resume.py          how to resume a session, and the versions of the sources' readers
"""
