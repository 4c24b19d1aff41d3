"""Waiting for its room.

claude_settings.py  Claude Code's settings file
json_text.py        a list in a JSON text, changed in place
"""
