"""Waiting for their vendors' rooms.

claude_code.py
claude_code_files.py
claude_code_lines.py
claude_code_pane.py
claude_code_transcript.py
codex.py
codex_ending.py
codex_files.py
codex_lines.py
codex_pane.py
codex_transcript.py
"""
