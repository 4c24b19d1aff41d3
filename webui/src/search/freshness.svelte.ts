// How fresh the search index is: loaded once, then updated by the server.

import { call } from "../api";
import { indexNews } from "../live.svelte";
import { length } from "../time.svelte";
import type { IndexState, Meaning } from "../types";

export class Freshness {
  /** Null if the server doesn't say, or doesn't tell this user. */
  index: IndexState | null = $state.raw(null);
  readonly #onRefreshed: () => void;

  constructor(onRefreshed: () => void) {
    this.#onRefreshed = onRefreshed;
    indexNews.listeners.add(this.#hear);
    void this.#ask();
  }

  close(): void {
    indexNews.listeners.delete(this.#hear);
  }

  #hear = (index: IndexState | null): void => {
    if (index === null) {
      void this.#ask();
    } else {
      this.index = { ...index, meaning: this.index?.meaning };
      this.#onRefreshed();
    }
  };

  async #ask(): Promise<void> {
    try {
      this.index = await call<IndexState>("GET", "/index");
    } catch {
      this.index = null;
    }
  }
}

export function freshnessWords(index: IndexState, now: number): string {
  if (index.problem) return `New messages are not being indexed: ${index.problem.message}`;
  if (index.refreshed_at === null) {
    return index.is_following ? "Indexing for the first time…" : "Nothing indexed yet";
  }
  const ago = `${length((now - Date.parse(index.refreshed_at)) / 1_000)} ago`;
  return index.is_following ? `Index up to date (${ago})` : `Last indexed ${ago}`;
}

/** Whether words alone count, and why. */
export function meaningWords(meaning: Meaning): string {
  if (meaning.problem) return "by words alone";
  if (meaning.pending_sessions === 0) return "by words and meaning";
  return `by words and meaning; ${meaning.pending_sessions.toLocaleString("en")} sessions by words alone so far`;
}

export function meaningReason(meaning: Meaning): string | undefined {
  const problem = meaning.problem;
  return problem ? [problem.message, problem.hint].filter(Boolean).join("; ") : undefined;
}
