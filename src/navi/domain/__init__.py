"""Waiting for its room.

light_typing.py  parts of `typing` that are quick to import
"""
