"""Navi's own sessions.

vendor.py   its entry in the registry
history.py  reads its sessions from the live store for the index
"""
