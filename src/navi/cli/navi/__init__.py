"""`navi`: the server and its set-up, one command per file."""
