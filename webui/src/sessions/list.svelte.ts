// What the list of sessions shows, and how. The arrangement is remembered in this browser.

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
/** Ages and days are good enough at this distance, and 500 rows are not redrawn every second. */
const STEP_MS = 10_000;

class SessionList {
  filter = $state("");
  isPendingOnly = $state(false);
  #grouping: Grouping = $state((localStorage.getItem(GROUPING) as Grouping | null) ?? "none");
  #folded: ReadonlySet<string> = $state.raw(new Set(JSON.parse(localStorage.getItem(FOLDED) ?? "[]") as string[]));

  readonly now = $derived(clock.now - (clock.now % STEP_MS));
  readonly openId = $derived(router.now.view === "session" ? router.now.id : null);
  /** The open session when it was opened: reading it doesn't move it. */
  readonly #opened = $derived.by(() => {
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

  readonly ids = $derived(this.groups.flatMap((group) => group.places.map((place) => place.session.id)));

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
    if (session.id !== this.#opened?.id) return session;
    return { ...session, attention: this.#opened.attention };
  }
}

export const list = new SessionList();
