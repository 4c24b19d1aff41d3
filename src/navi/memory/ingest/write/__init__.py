"""Writes parts of files to the two engines.

duckdb_writer.py   parts of files to DuckDB, in one transaction
tantivy_writer.py  the full-text folder: one document per text, one card per session
session_cards.py   a session's card: what lists and search results show
folding.py         texts prepared for the full-text index
columns.py         rows packed into columns, and handed to DuckDB as an Arrow table
"""
