// The filters that can be typed among the words of a search.

import { SOURCES } from "../session/agent";

const CHOICES: Record<string, readonly string[]> = {
  agent: SOURCES,
  project: [],
  file: [],
  after: ["today", "yesterday", "7d", "30d"],
  before: ["today", "yesterday", "7d", "30d"],
  role: ["user", "assistant", "system"],
  tool: [],
  session: [],
  origin: ["user", "recall", "automation", "agent", "reminder", "answer"],
  outcome: ["failed", "ok", "denied", "error", "max_iterations", "limit", "stopped"],
};
/** Shorter words are too often the beginning of a filter's name. */
const MIN_LETTERS = 2;

/** Completions of the last word, if it may be a filter: `outcome:` for `ou`, then `outcome:failed`. */
export function suggestions(text: string): string[] {
  const word = lastWord(text);
  const [key = "", value] = word.split(":", 2);
  if (value !== undefined) {
    const names = (CHOICES[key] ?? []).filter((name) => name.startsWith(value) && name !== value);
    return names.map((name) => `${key}:${name}`);
  }
  if (word.length < MIN_LETTERS) return [];
  return Object.keys(CHOICES).filter((name) => name.startsWith(word)).map((name) => `${name}:`);
}

/** The text with its last word replaced by the suggestion, and a space after a complete filter. */
export function withSuggestion(text: string, suggestion: string): string {
  const before = text.slice(0, text.length - lastWord(text).length);
  return before + suggestion + (suggestion.endsWith(":") ? "" : " ");
}

/** The last word, or nothing inside a quoted phrase. */
function lastWord(text: string): string {
  if (text.split('"').length % 2 === 0) return "";
  return text.slice(text.search(/\S*$/));
}
