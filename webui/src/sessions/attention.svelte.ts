// Counts the sessions that need a person, and marks the session on screen as read.

import { call, ApiError } from "../api";
import { overview } from "../live.svelte";
import { router } from "../route.svelte";
import { needsPerson } from "../sessions";

class Attention {
  #isVisible = $state(!document.hidden);
  /** Sessions being marked as read, so that each is marked once. */
  #marking = new Set<string>();

  constructor() {
    document.addEventListener("visibilitychange", () => (this.#isVisible = !document.hidden));
  }

  /** The session that a person is looking at. */
  readonly #watchedId = $derived(this.#isVisible && router.now.view === "session" ? router.now.id : null);

  /** How many sessions need a person, without the one they are reading right now. */
  readonly count = $derived.by(() => {
    let count = 0;
    for (const session of overview.sessions.values()) {
      const isBeingRead = session.id === this.#watchedId && session.attention !== "waiting";
      if (needsPerson(session) && !isBeingRead) count += 1;
    }
    return count;
  });

  /** Marks the session on screen as read. Call it in an effect. */
  markRead(): void {
    const session = overview.sessions.get(this.#watchedId ?? "");
    if (session?.unread) void this.#mark(session.id);
  }

  async #mark(id: string): Promise<void> {
    if (this.#marking.has(id)) return;
    this.#marking.add(id);
    try {
      await call("PATCH", `/sessions/${id}`, { unread: false });
      this.#marking.delete(id);
    } catch (error) {
      // If the server can't be reached, try again when the list is next loaded.
      if (!(error instanceof ApiError && error.status < 500)) this.#marking.delete(id);
    }
  }
}

export const attention = new Attention();
