"""How the index's values look in JSON: the names other programs rely on. Secrets are masked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from navi.base.secrets.masking import masked as mask
from navi.base.secrets.masking import masked_json
from navi.base.timestamps import instant

if TYPE_CHECKING:
    from navi.memory.read.search import Hit
    from navi.memory.read.session_transcript import Transcript
    from navi.permissions.suggestions import Suggestions

    Json = dict[str, Any]


def session_json(session: Json) -> Json:
    shaped = {
        name: instant(value) if name.endswith("_at") else value for name, value in session.items()
    }
    shaped["tags"] = shaped["tags"] or []
    shaped["title"] = mask(shaped["title"])
    return shaped


def transcript_json(found: Transcript) -> Json:
    return {
        **session_json(found.session),
        "parent_session_id": found.parent_id,
        "messages": [
            {
                **message,
                "content": mask(message["content"]),
                "thinking": mask(message["thinking"]),
                "timestamp": instant(message["timestamp"]),
                "tool_calls": [_call_json(call) for call in message["tool_calls"]],
            }
            for message in found.messages
        ],
        "orphan_tool_calls": [_call_json(call) for call in found.orphan_calls],
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
        "title": mask(hit.title),
        "resume_command": hit.resume_command,
        "score": round(hit.score, 4),
        "snippet": hit.snippet.text,
    }


def suggestions_json(found: Suggestions) -> Json:
    from dataclasses import asdict

    # They have no secrets: what has is not suggested, and examples are masked where they are made.
    return {
        "suggestions": [asdict(each) for each in found.suggestions],
        "skipped": [asdict(each) for each in found.skipped],
    }


def _call_json(call: Json) -> Json:
    return {
        **call,
        "tool_input": masked_json(call["tool_input"]),
        "bash_command": mask(call["bash_command"]),
        "bash_base": mask(call["bash_base"]),
        "bash_sub": mask(call["bash_sub"]),
        "timestamp": instant(call["timestamp"]),
    }
