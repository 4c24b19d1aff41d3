"""The documentation of this version. It contains no secrets, so anyone may read it."""

from __future__ import annotations

from functools import cache

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from navi.base import documentation
from navi.live.api import documentation_page
from navi.live.api.routes.page_routes import HEADERS, MEDIA_TYPES

START = "README.md"


def routes() -> list[Route]:
    return [Route("/docs/{path:path}", page, methods=["GET"])]


async def page(request: Request) -> Response:
    path = request.path_params["path"] or START
    if path not in _paths():
        return Response("not found", 404)
    if path.endswith(".md"):
        html = await run_in_threadpool(_html, path)
        return Response(html, media_type="text/html", headers=HEADERS)
    media_type = MEDIA_TYPES.get(path.rpartition(".")[2], "text/plain")
    content = await run_in_threadpool((documentation.folder() / path).read_bytes)
    return Response(content, media_type=media_type, headers=HEADERS)


def _html(path: str) -> str:
    text = (documentation.folder() / path).read_text(encoding="utf-8")
    return documentation_page.html(path, text, _paths())


@cache
def _paths() -> frozenset[str]:
    """The only paths that may be requested, so that none leads out of the folder."""
    folder = documentation.folder()
    files = (path for path in folder.rglob("*") if path.is_file())
    return frozenset(path.relative_to(folder).as_posix() for path in files)
