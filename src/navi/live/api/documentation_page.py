"""Renders pages of the documentation as HTML."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from markdown_it.token import Token

TEMPLATE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Navi</title>
<link rel="icon" href="/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/docs.css">
</head>
<body>
<nav aria-label="Navi"><a href="/">Navi</a> <a href="/docs/">Documentation</a></nav>
<main>
{content}</main>
</body>
</html>
"""


def html(path: str, text: str, paths: Container[str]) -> str:
    """Render the Markdown of the file at `path`. Links to files not in `paths` become text."""
    from markdown_it import MarkdownIt  # slow to import, and rarely needed

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    title = path
    for token, next_token in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(next_token.content))
            title = next_token.content if token.tag == "h1" else title
        _drop_dead_links(next_token.children or [], posixpath.dirname(path), paths)
    content = markdown.renderer.render(tokens, markdown.options, {})
    # Wide tables and code blocks scroll on their own; `tabindex` lets the keyboard scroll them.
    content = content.replace("<table>", '<div class="wide" tabindex="0"><table>')
    content = content.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return TEMPLATE.format(title=escape(title), content=content)


def _drop_dead_links(tokens: Sequence[Token], folder: str, paths: Container[str]) -> None:
    is_dead = False
    for token in tokens:
        if token.type == "link_open":
            is_dead = not _has_target(str(token.attrs["href"]), folder, paths)
        if is_dead and token.type in ("link_open", "link_close"):
            token.tag, token.attrs = "span", {}


def _has_target(link: str, folder: str, paths: Container[str]) -> bool:
    parts = urlsplit(link)
    is_elsewhere = bool(parts.scheme) or not parts.path
    return is_elsewhere or posixpath.normpath(posixpath.join(folder, parts.path)) in paths


def _anchor(heading: str) -> str:
    """The anchor that Markdown viewers give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
