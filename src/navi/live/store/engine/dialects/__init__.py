"""What differs between the databases. Nothing outside this folder depends on which one is used.

dialect.py     the interface
registry.py    the dialect of a URL or a connection
sqlite.py      one file, one server
postgresql.py  one database, any number of servers
"""
