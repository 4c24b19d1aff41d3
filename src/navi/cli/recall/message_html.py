"""Messages as safe HTML: Markdown and coloured code, without scripts or remote content."""

from __future__ import annotations

from functools import cache
from html import escape

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

CONTENT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
"""A second defence, in case HTML from a transcript gets through."""
LONGEST_COLOURED = 20_000
"""Longer code is not coloured: some languages' patterns are slow on hostile code."""
STYLE = f"""
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff }}
body {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: anywhere }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: #555 }}
dd {{ margin: 0 }}
article {{ border-left: 3px solid #ccc; padding: .1rem 1rem; margin: 1.2rem 0 }}
article.user {{ border-color: #2a7d4f }} article.assistant {{ border-color: #2b6cb0 }}
article > h2 {{ font-size: .8rem; margin: .3rem 0; color: #555 }}
article div :is(h1, h2, h3, h4, h5, h6) {{ font-size: 1.05rem; margin: 1rem 0 .3rem }}
pre {{ background: #f4f4f4; padding: .6rem; overflow-x: auto; font-size: .85rem }}
code {{ background: #f4f4f4; padding: .1rem .2rem; font-size: .9em }}
pre code {{ background: none; padding: 0; font-size: inherit }}
table {{ border-collapse: collapse; display: block; overflow-x: auto }}
th, td {{ border: 1px solid #ccc; padding: .2rem .6rem }}
blockquote {{ margin: 0; padding-left: 1rem; border-left: 2px solid #ccc; color: #555 }}
.thinking {{ color: #666; font-style: italic }}
{HtmlFormatter(style="default").get_style_defs("pre")}
@media (prefers-color-scheme: dark) {{
  body {{ color: #ddd; background: #181818 }} pre, code {{ background: #262626 }}
  dl, article > h2, blockquote, .thinking {{ color: #aaa }} a {{ color: #8ab4f8 }}
  {HtmlFormatter(style="github-dark").get_style_defs("pre")}
  pre {{ background: #262626 }}
}}
"""


def rendered(kind: str, text: str) -> str:
    """One piece (text, thinking or call) as HTML."""
    if kind == "call":
        return f"<pre>{escape(text)}</pre>"
    style = ' class="thinking"' if kind == "thinking" else ""
    return f"<div{style}>{_markdown().render(text)}</div>"


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return url.lower().startswith(("http://", "https://"))


@cache
def _markdown() -> MarkdownIt:
    markdown = _Markdown("commonmark", {"html": False, "breaks": True, "highlight": _coloured})
    # An image would be loaded when the document is opened; without this rule it becomes a link.
    markdown.enable(["table", "strikethrough"]).disable("image")
    return markdown


def _coloured(code: str, language: str, attributes: str) -> str:
    is_coloured = bool(language) and len(code) <= LONGEST_COLOURED
    try:
        lexer = get_lexer_by_name(language) if is_coloured else None
    except ClassNotFound:
        lexer = None
    if lexer is None:
        return escape(code)
    coloured: str = highlight(code, lexer, HtmlFormatter(nowrap=True))
    return coloured
