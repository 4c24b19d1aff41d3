"""Sessions of other machines: exchanged as bundles, then indexed like any other session.

this_machine.py    this machine's id and name
bundle.py          one session as a file: its format, and the checks it must pass
own_sessions.py    revisions and bundles of this machine's sessions
received.py        the bundles that other machines sent
host_source.py     reads received bundles for the index
duplicates.py      received sessions that this machine also has a file of
moves.py           sessions that are now received from another machine
path_map.py        maps another machine's folders to folders here
peers.py           each peer's settings and last sync
sync_request.py    what to exchange with a peer
sync_result.py     what a sync sent, received and refused
stock.py           all sessions here: which to offer, and which offers to accept
folder_peer.py     syncs through a folder that several machines share
pipe_peer.py       syncs through a pipe, such as the one of ssh
archive.py         many bundles in one file
"""
