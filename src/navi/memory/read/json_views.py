"""The index's values as JSON, with secrets masked. Other programs rely on these names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from navi.base.secrets.masking import masked, masked_json
from navi.base.timestamps import instant

if TYPE_CHECKING:
    from navi.memory.read.search import Hit
    from navi.memory.read.session_transcript import Transcript
    from navi.permissions.suggestions import Suggestions

    Json = dict[str, Any]


def session_json(session: Json) -> Json:
    view = {
        name: instant(value) if name.endswith("_at") else value for name, value in session.items()
    }
    view["tags"] = view["tags"] or []
    view["title"] = masked(view["title"])
    return view


def transcript_json(transcript: Transcript) -> Json:
    return {
        **session_json(transcript.session),
        "parent_session_id": transcript.parent_id,
        "messages": [
            {
                **message,
                "content": masked(message["content"]),
                "thinking": masked(message["thinking"]),
                "timestamp": instant(message["timestamp"]),
                "tool_calls": [_call_json(call) for call in message["tool_calls"]],
            }
            for message in transcript.messages
        ],
        "orphan_tool_calls": [_call_json(call) for call in transcript.orphan_calls],
    }


def hit_json(hit: Hit) -> Json:
    return {
        "session_id": hit.session_id,
        "source": hit.source,
        "source_session_id": hit.source_session_id,
        "message_id": hit.message_id,
        "tool_call_id": hit.tool_call_id,
        "idx": hit.idx,
        "kind": hit.kind,
        "role": hit.role,
        "tool_name": hit.tool_name,
        "timestamp": instant(hit.timestamp),
        "project": hit.project,
        "title": masked(hit.title),
        "host": hit.host,
        "resume_command": hit.resume_command,
        "score": round(hit.score, 4),
        "has_all_words": hit.has_all_words,
        "snippet": hit.snippet.text,
    }


def suggestions_json(suggestions: Suggestions) -> Json:
    from dataclasses import asdict

    # No masking: commands with secrets are never suggested, and the examples are already masked.
    return {
        "suggestions": [asdict(each) for each in suggestions.suggestions],
        "skipped": [asdict(each) for each in suggestions.skipped],
    }


def _call_json(call: Json) -> Json:
    return {
        **call,
        "tool_input": masked_json(call["tool_input"]),
        "bash_command": masked(call["bash_command"]),
        "bash_base": masked(call["bash_base"]),
        "bash_sub": masked(call["bash_sub"]),
        "output": masked(call["output"]),
        "timestamp": instant(call["timestamp"]),
    }
