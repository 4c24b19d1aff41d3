"""Builds responses from values and errors."""

from __future__ import annotations

import json
import logging
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from navi.base.errors import InvalidInput, NaviError
from navi.live.model.wire_format import error_json

log = logging.getLogger("navi.api")

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
ERROR_KINDS = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}


def answer(value: Any, status: int = 200) -> Response:
    text = json.dumps(value, separators=(",", ":")) + "\n"
    return Response(text, status, HEADERS, "application/json")


def error_response(error: NaviError) -> Response:
    response = answer({"error": error_json(error)}, error.http_status)
    if error.http_status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if error.http_status == 503:
        response.headers["Retry-After"] = "1"
    return response


async def on_navi_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, NaviError)
    if error.http_status >= 500:
        log.error("%s %s: %s", request.method, request.url.path, error.message)
    return error_response(error)


async def on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    kind = ERROR_KINDS.get(error.status_code, "http_error")
    message = f"{request.method} {request.url.path}: {error.detail}"
    hint = "GET /docs/reference/http.md lists all calls"
    return answer({"error": {"kind": kind, "message": message, "hint": hint}}, error.status_code)


async def on_disconnect(request: Request, error: Exception) -> Response:
    """Nobody receives this response, but it keeps the traceback out of the log."""
    return error_response(
        InvalidInput("the request ended before its body was complete", hint="send it again")
    )


async def on_unexpected_error(request: Request, error: Exception) -> Response:
    # uvicorn logs the traceback; the response refers to the log.
    log.error("%s %s failed: %r", request.method, request.url.path, error)
    hint = "the server's log has the details; `navi doctor` checks the installation"
    message = "something went wrong inside Navi; no accepted input was lost"
    return answer({"error": {"kind": "internal", "message": message, "hint": hint}}, 500)
