"""Navi's own sessions.

vendor.py   what the rest of Navi sees of it
history.py  its sessions, read from the live store for the index
"""
