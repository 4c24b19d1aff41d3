// Highlights the languages that agents write most. Loaded only when a conversation contains code.

import highlighter from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, python, ruby, rust, shell,
  sql, typescript, xml, yaml,
};
for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);
highlighter.registerAliases("svelte", { languageName: "xml" });

/** HTML with a span around each coloured word; null for an unknown language. */
export function highlightCode(code: string, language: string): string | null {
  if (highlighter.getLanguage(language) === undefined) return null;
  return highlighter.highlight(code, { language, ignoreIllegals: true }).value;
}
