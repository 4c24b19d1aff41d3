"""The database: how it is opened, its transactions and its tables.

transactions.py  runs an operation in a transaction, off the event loop
connection.py    opens a database by its URL
tables.py        the tables, defined once for both databases
mappers.py       turns rows that several files read into values
schema.py        brings a database to the current version
migrations/      one file per version
dialects/        what differs between SQLite and PostgreSQL
signals.py       signals from a commit to the processes that share the store
"""
