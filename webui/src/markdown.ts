// Markdown as safe HTML: tags in the text are shown as text, links lead only to web pages, and images
// become links. The result is sanitised once more before it is shown.

import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { colours } from "./code/colours.svelte";

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => escapeHtml(text),
    code({ text, lang, raw }) {
      const language = lang?.split(/\s/)[0] ?? "";
      // A block that is still being written stays plain: colouring it with each word is slow and flickers.
      const isComplete = /(`{3}|~{3})\s*$/.test(raw);
      const inner = (isComplete ? colours.html(text, language.toLowerCase()) : null) ?? escapeHtml(text);
      return (
        `<div class="code"><div class="code-bar"><span>${escapeHtml(language)}</span>` +
        `<button type="button" class="copy">Copy</button></div>` +
        `<pre tabindex="0"><code>${inner}</code></pre></div>`
      );
    },
    link({ href, tokens }) {
      return linkHtml(href, this.parser.parseInline(tokens));
    },
    image: ({ href, text }) => linkHtml(href, `image: ${escapeHtml(text || href)}`),
    table(token) {
      const row = (cells: Tokens.TableCell[], tag: string): string =>
        `<tr>${cells.map((cell) => `<${tag} class="${cell.align ?? ""}">${this.parser.parseInline(cell.tokens)}</${tag}>`).join("")}</tr>`;
      const body = token.rows.map((cells) => row(cells, "td")).join("");
      return `<div class="table"><table><thead>${row(token.header, "th")}</thead><tbody>${body}</tbody></table></div>`;
    },
  },
});

const ALLOWED = {
  ALLOWED_TAGS: [
    ..."a b blockquote br button code del div em h1 h2 h3 h4 h5 h6 hr i li ol p pre span".split(" "),
    ..."strong table tbody td th thead tr ul input".split(" "),
  ],
  ALLOWED_ATTR: ["class", "href", "target", "rel", "type", "tabindex", "start", "checked", "disabled"],
  ALLOW_DATA_ATTR: false,
};

/** The blocks of a text. While the text grows, only the last ones change. */
export function blocks(text: string): Token[] {
  return marked.lexer(text).filter((token) => token.type !== "space");
}

export function html(block: Token): string {
  return DOMPurify.sanitize(marked.parser([block]), ALLOWED);
}

function linkHtml(href: string, inner: string): string {
  if (!/^(https?:|mailto:)/i.test(href.trim())) return inner;
  return `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${inner}</a>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
