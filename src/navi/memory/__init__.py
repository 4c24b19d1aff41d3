"""The memory: every session of every agent, indexed and searchable. Works without a server.

model.py           the values a source yields: sessions, messages, tool calls
for_agents/        what agents read of it: quoted, within a number of tokens
hosts/             sessions of other machines: how they travel, and where they are
ingest/            files to index: discover, read, write
keep/              copies of session files that their agents delete
overview/          what came of sessions: two compared, or a digest of many
read/              search, list, show, count; quick to import, because people wait for it
semantic/          search by meaning: an extra that needs a model
index_paths.py     where the index and its settings are
index_settings.py  which texts are searchable
index_schema.py    the tables of the DuckDB file
index_errors.py    what can be wrong with an index
database.py        opens the DuckDB file
record_ids.py      stable ids for sessions, messages and tool calls
words.py           how a text becomes words, when writing and when searching
file_paths.py      paths as searchable terms
file_damage.py     describes damage to an agent's file
tags.py            tags that people give to sessions
prices.py          what tokens cost
resume.py          how to resume a session, and the versions of the sources' readers
"""
