// The contents and arrangement of the list of sessions. This browser remembers the arrangement.

import { untrack } from "svelte";
import { overview } from "../live.svelte";
import { router } from "../route.svelte";
import { needsPerson, type Standing } from "../sessions";
import { clock } from "../time.svelte";
import type { Session } from "../types";
import { arrange, type Grouping } from "./arrangement";
import { matches } from "./filter";

const GROUPING = "navi.grouping";
const FOLDED = "navi.folded";
/** How often ages are updated: redrawing 500 rows every second would be too slow. */
const STEP_MS = 10_000;

class SessionList {
  filter = $state("");
  isPendingOnly = $state(false);
  #grouping: Grouping = $state((localStorage.getItem(GROUPING) as Grouping | null) ?? "none");
  #folded: ReadonlySet<string> = $state.raw(new Set(JSON.parse(localStorage.getItem(FOLDED) ?? "[]") as string[]));

  readonly now = $derived(clock.now - (clock.now % STEP_MS));
  readonly openId = $derived(router.now.view === "session" ? router.now.id : null);
  /** The open session as it was when opened, so that reading it doesn't move it in the list. */
  readonly #sessionWhenOpened = $derived.by(() => {
    const id = this.openId;
    return untrack(() => (id === null ? undefined : overview.sessions.get(id)));
  });

  readonly groups = $derived.by(() => {
    const isFiltered = this.filter.trim() !== "";
    return arrange(
      [...overview.sessions.values()].filter((session) => this.#isListed(session)),
      {
        grouping: this.#grouping,
        folded: isFiltered ? new Set() : this.#folded,
        standing: (session) => this.#standing(session),
        now: this.now,
      },
    );
  });

  readonly ids = $derived(this.groups.flatMap((group) => group.entries.map((entry) => entry.session.id)));

  get grouping(): Grouping {
    return this.#grouping;
  }

  set grouping(grouping: Grouping) {
    this.#grouping = grouping;
    localStorage.setItem(GROUPING, grouping);
  }

  fold(id: string): void {
    const folded = new Set(this.#folded);
    if (!folded.delete(id)) folded.add(id);
    this.#folded = folded;
    localStorage.setItem(FOLDED, JSON.stringify([...folded]));
  }

  #isListed(session: Session): boolean {
    if (session.archived && !needsPerson(this.#standing(session)) && !overview.hasArchived) return false;
    if (this.isPendingOnly && session.pending_recall === null) return false;
    return matches(session, this.filter);
  }

  #standing(session: Session): Standing {
    if (session.id !== this.#sessionWhenOpened?.id) return session;
    return { ...session, attention: this.#sessionWhenOpened.attention };
  }
}

export const list = new SessionList();
