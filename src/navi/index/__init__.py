"""The memory: what every agent ever did, searchable.

Two engines side by side. DuckDB is the truth and answers show and stats; a tantivy folder next to
it answers searches and lists, and can be made anew from DuckDB at any time. The way of the data:

    plan.py       which files changed, newest first: by stat alone
    reading.py    one file -> frames: its rows as columns (columns.py)
    reading_process.py  reads files beside the process that writes
    batch.py      frames -> DuckDB, one transaction, and which texts are then still to be written
    titles.py     what a session is called if its agent gave it no title
    cards.py      what a list and a result show of a session
    texts.py      the tantivy folder: written incrementally, readable at all times (folding.py
                  makes texts ready for it, opening.py is for its readers)
    refresh.py    all of it together, safe against being killed at any moment
    following.py  a refresh whenever files change; freshness.py says how old the index is
    upgrade.py    what an earlier version made, brought up to date

    touched.py, file_paths.py                     which files a tool call names
    query.py, words.py, search.py, snippets.py    a question -> passages
    catalogue.py                                  the sessions, latest first
    listing.py, transcript.py, stats.py           DuckDB read, never written
    shapes.py                                     their values in JSON

`damage.py` has the words for damaged files, `places.py` says where the index's own files are,
`schema.py` what is in them, `lock.py` who may write.
"""
