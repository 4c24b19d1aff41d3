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
/** With fewer letters, too many words look like the beginning of a filter. */
const FEWEST_LETTERS = 2;

/** How the last word may go on, if it looks like a filter: `ou` as `outcome:`, then `outcome:failed`. */
export function suggestions(text: string): string[] {
  const word = lastWord(text);
  const [key = "", value] = word.split(":", 2);
  if (value !== undefined) {
    const names = (CHOICES[key] ?? []).filter((name) => name.startsWith(value) && name !== value);
    return names.map((name) => `${key}:${name}`);
  }
  if (word.length < FEWEST_LETTERS) return [];
  return Object.keys(CHOICES).filter((name) => name.startsWith(word)).map((name) => `${name}:`);
}

/** The text with its last word replaced. After a whole filter there is room for the next word. */
export function completed(text: string, suggestion: string): string {
  const before = text.slice(0, text.length - lastWord(text).length);
  return before + suggestion + (suggestion.endsWith(":") ? "" : " ");
}

/** Empty inside a phrase. */
function lastWord(text: string): string {
  if (text.split('"').length % 2 === 0) return "";
  return text.slice(text.search(/\S*$/));
}
