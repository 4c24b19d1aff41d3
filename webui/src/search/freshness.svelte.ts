// How fresh the search index is: loaded once, then updated by the server.

import { call } from "../api";
import { indexNews } from "../live.svelte";
import { length } from "../time.svelte";
import type { IndexState } from "../types";

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
      this.index = index;
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
