"""Several machines: their sessions travel as bundles, and are read like any other session.

this_machine.py    this machine's id and name, as others know it
bundle.py          one session as a file: its format, and the checks it must pass
own_sessions.py    revisions and bundles of this machine's sessions
received.py        the bundles that other machines sent
host_source.py     reads received bundles for the index
duplicates.py      sessions that this machine has itself: its own file wins
moves.py           sessions that have moved to another machine's bundles
path_map.py        where another machine's folders are here
peers.py           what to know about each peer: paths, masking, the last sync
sync_request.py    what to exchange with a peer
sync_result.py     what came of it
stock.py           every session that is here: what can be sent, and what is wanted
folder_peer.py     syncs through a folder that several machines see
pipe_peer.py       syncs through a pipe, such as the one of ssh
archive.py         many bundles in one file
"""
