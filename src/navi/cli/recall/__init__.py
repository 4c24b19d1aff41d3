"""`recall`: the memory. Works without a server."""
