// The items that need a person, computed from the sessions, the open questions and the automations. Only the
// server has the snoozed and settled items and the reasons of failures; they are loaded after each change.

import { untrack } from "svelte";
import { call, query, ApiError, errorText } from "../api";
import { automationNews, openNews, overview } from "../live.svelte";
import { questions } from "../questions/questions.svelte";
import { clock, zoneName } from "../time.svelte";
import type { Automation } from "../types";
import { asListed, needs, type Listed } from "./needs";

const TRY_AGAIN_MS = 1_000;
/** Several changes may come at once: load once for all of them. */
const BATCH_MS = 200;
const GONE = 404;

class Inbox {
  #automations: ReadonlyMap<string, Automation | null> = $state.raw(new Map());
  /** Automations that changed while they are being loaded; otherwise null. */
  #fresh: Map<string, Automation | null> | null = null;
  readonly #all = $derived(
    needs(overview.sessions, questions.open, [...this.#automations.values()].filter((each) => each !== null)),
  );
  /** The server's list, and the page's items at the time of the request; null at first. */
  #listed: Listed | null = $state.raw(null);
  #calls = 0;
  #timer = 0;

  /** Until the first answer, snoozed and settled items can't be told from others. */
  readonly isLoaded = $derived(overview.isLoaded && (this.#listed !== null || this.#all.length === 0));
  readonly needs = $derived(this.#listed === null ? [] : asListed(this.#all, this.#listed, () => clock.now));

  constructor() {
    openNews.listeners.add(() => {
      void this.#loadAutomations();
      this.#loadItemsSoon();
    });
    automationNews.listeners.add(({ automation, automation_id: id }) => {
      this.#fresh?.set(id, automation);
      this.#automations = new Map(this.#automations).set(id, automation);
    });
    const changes = $derived(this.#all.map(({ id, since }) => `${id} ${since}`).join("\n"));
    $effect.root(() => {
      $effect(() => {
        if (changes !== "") untrack(() => this.#loadItemsSoon());
      });
    });
  }

  /** Hides an item from this person until then; returns an error text, or an empty text. */
  snooze(id: string, until: string): Promise<string> {
    return this.#change(`/inbox/${id}/snooze`, { until, tz: zoneName() });
  }

  /** Marks an item as dealt with; returns an error text, or an empty text. */
  settle(id: string): Promise<string> {
    return this.#change(`/inbox/${id}/settle`);
  }

  async #change(path: string, body?: unknown): Promise<string> {
    try {
      await call("POST", path, body);
    } catch (error) {
      // If it is gone, somebody else has dealt with it.
      if (!(error instanceof ApiError && error.status === GONE)) return errorText(error);
    }
    await this.#loadItems();
    return "";
  }

  #loadItemsSoon(): void {
    this.#timer ||= window.setTimeout(() => void this.#loadItems(), BATCH_MS);
  }

  async #loadItems(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = 0;
    const number = ++this.#calls;
    const asked = new Map(this.#all.map(({ id, since }) => [id, since]));
    try {
      const items = await call<Listed["items"]>("GET", `/inbox?${query({ snoozed: "true", tz: zoneName() })}`);
      if (number === this.#calls) this.#listed = { items, asked };
    } catch {
      if (number !== this.#calls) return;
      // Better to show too much than nothing.
      this.#listed ??= { items: [], asked: new Map() };
      this.#timer ||= window.setTimeout(() => void this.#loadItems(), TRY_AGAIN_MS);
    }
  }

  async #loadAutomations(): Promise<void> {
    const fresh = new Map<string, Automation | null>();
    this.#fresh = fresh;
    try {
      const automations = await call<Automation[]>("GET", "/automations");
      if (this.#fresh !== fresh) return;
      this.#fresh = null;
      this.#automations = new Map([...automations.map((each) => [each.id, each] as const), ...fresh]);
    } catch {
      setTimeout(() => this.#fresh === fresh && void this.#loadAutomations(), TRY_AGAIN_MS);
    }
  }
}

export const inbox = new Inbox();
