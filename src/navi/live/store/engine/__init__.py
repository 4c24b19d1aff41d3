"""The database: opening it, running transactions, its tables.

transactions.py  runs an operation in a transaction, off the event loop
connection.py    opens a database by its URL
tables.py        the tables, defined once for both databases
mappers.py       rows to values, where several files need them
schema.py        brings a database to the current version
migrations/      one file per version
dialects/        what differs between SQLite and PostgreSQL
signals.py       what a commit announces to the processes that share the store
"""
