"""/a/{token}: answers a question by the link in a notification, without a login.

Only POST answers: programs that show previews of links open them with GET.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base.control_characters import without_control_characters
from navi.base.errors import InvalidInput, NaviError
from navi.base.secrets.masking import mask
from navi.base.stored_text import require_storable
from navi.live.api import request_bodies
from navi.live.api.responses import answer, error_response
from navi.live.model.question import (
    Decision,
    Question,
    QuestionAnswer,
    QuestionClosed,
    QuestionKind,
    answer_in_words,
)
from navi.live.model.wire_format import question_json
from navi.live.runtime.app import Navi

FORM = "application/x-www-form-urlencoded"
LIMIT_BYTES = 100_000
"""Small, because answers are short and need no login."""
STYLE = """
:root { color-scheme: light dark }
body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: auto; padding: 1rem }
h1 { font-size: 1.4rem; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
button, textarea { font: inherit }
button { min-height: 3rem; padding: 0 1.2rem }
textarea { box-sizing: border-box; width: 100% }
label { display: block; padding: 0.4rem 0 }
"""
STYLE_SHA256 = b64encode(sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{STYLE_SHA256}'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    # With `no-referrer`, browsers would send the form with `Origin: null`, which is refused.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
}
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def routes() -> list[Route]:
    return [
        Route("/a/{token}", show, methods=["GET"]),
        Route("/a/{token}", give_answer, methods=["POST"]),
    ]


async def show(request: Request) -> Response:
    navi: Navi = request.app.state.navi
    try:
        question = await navi.notifications.links.question(_token(request))
    except NaviError as error:
        return _error_page(error)
    if not question.is_open:
        return _page("Too late", _paragraph(QuestionClosed(question).message), 409)
    return _page(question.title, _question_html(question))


async def give_answer(request: Request) -> Response:
    navi: Navi = request.app.state.navi
    is_form = request.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM
    try:
        given_answer = await (_from_form(request) if is_form else _from_json(request))
        question = await navi.notifications.links.answer(_token(request), given_answer)
    except NaviError as error:
        return _error_page(error) if is_form else error_response(error)
    if not is_form:
        return answer(question_json(question))
    return _page("Answered", _paragraph(answer_in_words(given_answer)))


def _token(request: Request) -> str:
    return require_storable("the link", str(request.path_params["token"]))


async def _from_json(request: Request) -> QuestionAnswer:
    body = await request_bodies.read(request, request_bodies.LinkAnswer, LIMIT_BYTES)
    return QuestionAnswer(body.decision, body.text, tuple(body.choices))


async def _from_form(request: Request) -> QuestionAnswer:
    content = await request_bodies.read_bytes(request, LIMIT_BYTES)
    try:
        fields = parse_qs(content.decode())
    except ValueError as error:
        raise InvalidInput("the form can't be read", hint="open the link again") from error
    decision = fields.get("decision", [""])[0]
    if decision not in set(Decision):
        raise InvalidInput("the form has no answer", hint="open the link again")
    texts = [require_storable("text", text.strip()) for text in fields.get("text", []) if text]
    choices = fields.get("choices", []) if decision == Decision.CHOOSE else []
    for choice in choices:
        require_storable("choices", choice)
    return QuestionAnswer(Decision(decision), "\n".join(texts) or None, tuple(choices))


def _question_html(question: Question) -> str:
    parts = [f"<p>{_safe(question.detail)}</p>"] if question.detail else []
    if question.tool_input:
        call = json.dumps(dict(question.tool_input), indent=2, ensure_ascii=False)
        parts.append(f"<p>{_safe(question.tool_name or '')}</p><pre>{_safe(call)}</pre>")
    if question.risk is not None:
        parts.append(_paragraph(f"Risk: {question.risk}. {question.risk_reason or ''}"))
    return "".join(parts) + _form(question)


def _form(question: Question) -> str:
    fields = []
    input_type = "checkbox" if question.allow_several else "radio"
    for option in question.options:
        label = f"{option.label}: {option.description}" if option.description else option.label
        value = escape(option.label, quote=True)
        field = f'<input type="{input_type}" name="choices" value="{value}">'
        fields.append(f"<p><label>{field} {_safe(label)}</label></p>")
    takes_text = question.kind is not QuestionKind.CHOICE or question.allow_free_text
    if takes_text:
        fields.append('<p><label>Message<br><textarea name="text" rows="3"></textarea></label></p>')
    buttons = [
        f'<button name="decision" value="{decision.value}">{label}</button>'
        for decision, label in _buttons(question)
    ]
    return f'<form method="post">{"".join(fields)}<p>{" ".join(buttons)}</p></form>'


def _buttons(question: Question) -> list[tuple[Decision, str]]:
    match question.kind:
        case QuestionKind.PERMISSION | QuestionKind.PLAN:
            return [(Decision.ALLOW, "Allow"), (Decision.DENY, "Deny")]
        case QuestionKind.CHOICE:
            reply = [(Decision.REPLY, "Send message")] if question.allow_free_text else []
            return [(Decision.CHOOSE, "Choose"), *reply, (Decision.DENY, "Don't answer")]
    return [(Decision.REPLY, "Send"), (Decision.DENY, "Don't answer")]


def _error_page(error: NaviError) -> Response:
    title = "Too late" if isinstance(error, QuestionClosed) else "That didn't work"
    return _page(title, _paragraph(error.sentence), error.http_status)


def _paragraph(text: str) -> str:
    return f"<p>{_safe(text)}</p>"


def _page(title: str, body: str, status: int = 200) -> Response:
    html = PAGE.format(title=_safe(title), style=STYLE, body=body)
    return Response(html, status, HEADERS, "text/html")


def _safe(text: str) -> str:
    return escape(without_control_characters(mask(text)))
