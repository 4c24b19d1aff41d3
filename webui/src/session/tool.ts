// A tool call in words.

import type { ToolCallRow } from "./listing";

const MAIN = ["command", "file_path", "path", "pattern", "url", "query", "question", "when", "action", "name"];
const INDENT = "  ";

/** The most informative argument, for one line. */
export function gist(row: ToolCallRow): string {
  for (const name of MAIN) {
    const value = row.arguments[name];
    if (typeof value === "string") return value;
  }
  return Object.keys(row.arguments).length > 0 ? JSON.stringify(row.arguments) : "";
}

export function argumentText(row: ToolCallRow): string {
  const values = Object.values(row.arguments);
  if (values.length === 1 && typeof values[0] === "string") return values[0];
  return JSON.stringify(row.arguments, null, 2);
}

/** A result with its JSON on several lines. Only white space changes: numbers keep all their digits. */
export function resultText(result: string): string {
  const text = result.trim();
  if (!/^[[{]/.test(text) || !isJson(text)) return result;
  let depth = 0;
  let pretty = "";
  const line = (): string => `\n${INDENT.repeat(depth)}`;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[[\]{},:]|[^\s[\]{},:"]+/g) ?? [];
  for (const token of tokens) {
    if (token === "{" || token === "[") {
      depth += 1;
      pretty += token + line();
    } else if (token === "}" || token === "]") {
      depth -= 1;
      pretty += line() + token;
    } else if (token === ",") pretty += token + line();
    else pretty += token === ":" ? ": " : token;
  }
  return pretty;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
