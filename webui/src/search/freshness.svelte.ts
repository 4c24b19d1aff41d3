// How fresh the search index is: loaded once, then updated by the server.

import { call } from "../api";
import { indexNews } from "../live.svelte";
import { durationWords } from "../time.svelte";
import type { IndexState, Meaning } from "../types";

export class Freshness {
  /** Null if it can't be loaded, or this user may not see it. */
  index: IndexState | null = $state.raw(null);
  readonly #onRefreshed: () => void;

  constructor(onRefreshed: () => void) {
    this.#onRefreshed = onRefreshed;
    indexNews.listeners.add(this.#update);
    void this.#load();
  }

  close(): void {
    indexNews.listeners.delete(this.#update);
  }

  #update = (index: IndexState | null): void => {
    if (index === null) {
      void this.#load();
    } else {
      this.index = { ...index, meaning: this.index?.meaning };
      this.#onRefreshed();
    }
  };

  async #load(): Promise<void> {
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
  const ago = `${durationWords((now - Date.parse(index.refreshed_at)) / 1_000)} ago`;
  return index.is_following ? `Index up to date (${ago})` : `Last indexed ${ago}`;
}

/** Whether searches also use meaning. */
export function meaningWords(meaning: Meaning): string {
  if (meaning.problem) return "search by words alone";
  if (meaning.pending_sessions === 0) return "search by words and meaning";
  return `search by words and meaning; ${meaning.pending_sessions.toLocaleString("en")} sessions by words alone so far`;
}

/** Why searches don't use meaning, if they don't. */
export function meaningReason(meaning: Meaning): string | undefined {
  const problem = meaning.problem;
  return problem ? [problem.message, problem.hint].filter(Boolean).join("; ") : undefined;
}
