// What needs a person, kept up to date: computed from the sessions, the open questions and the automations.
// The server knows what was snoozed or settled, and why a turn failed; it is asked when something changes.

import { untrack } from "svelte";
import { call, query, Refused, words } from "../api";
import { automationNews, openNews, overview } from "../live.svelte";
import { questions } from "../questions/questions.svelte";
import { clock, zoneName } from "../time.svelte";
import type { Automation } from "../types";
import { asListed, needs, type Listed } from "./needs";

const TRY_AGAIN_MS = 1_000;
/** Several things may change at once. */
const TOGETHER_MS = 200;
const GONE = 404;

class Inbox {
  #automations: ReadonlyMap<string, Automation | null> = $state.raw(new Map());
  /** Those that changed while they are being loaded. */
  #fresh: Map<string, Automation | null> | null = null;
  readonly #all = $derived(
    needs(overview.sessions, questions.open, [...this.#automations.values()].filter((each) => each !== null)),
  );
  /** The server's answer, and what the page had when it asked; null at first. */
  #listed: Listed | null = $state.raw(null);
  #calls = 0;
  #timer = 0;

  /** Until the first answer, snoozed and settled items can't be told from others. */
  readonly isLoaded = $derived(overview.isLoaded && (this.#listed !== null || this.#all.length === 0));
  readonly needs = $derived(this.#listed === null ? [] : asListed(this.#all, this.#listed, () => clock.now));

  constructor() {
    openNews.listeners.add(() => {
      void this.#load();
      this.#askLater();
    });
    automationNews.listeners.add(({ automation, automation_id: id }) => {
      this.#fresh?.set(id, automation);
      this.#automations = new Map(this.#automations).set(id, automation);
    });
    const changes = $derived(this.#all.map(({ id, since }) => `${id} ${since}`).join("\n"));
    $effect.root(() => {
      $effect(() => {
        if (changes !== "") untrack(() => this.#askLater());
      });
    });
  }

  /** Hides an item from this person until then; returns what went wrong in words, or nothing. */
  snooze(id: string, until: string): Promise<string> {
    return this.#change(`/inbox/${id}/snooze`, { until, tz: zoneName() });
  }

  /** A person has dealt with it. */
  settle(id: string): Promise<string> {
    return this.#change(`/inbox/${id}/settle`);
  }

  async #change(path: string, body?: unknown): Promise<string> {
    try {
      await call("POST", path, body);
    } catch (error) {
      // Somebody else has dealt with it.
      if (!(error instanceof Refused && error.status === GONE)) return words(error);
    }
    await this.#ask();
    return "";
  }

  #askLater(): void {
    this.#timer ||= window.setTimeout(() => void this.#ask(), TOGETHER_MS);
  }

  async #ask(): Promise<void> {
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
      this.#timer ||= window.setTimeout(() => void this.#ask(), TRY_AGAIN_MS);
    }
  }

  async #load(): Promise<void> {
    const fresh = new Map<string, Automation | null>();
    this.#fresh = fresh;
    try {
      const automations = await call<Automation[]>("GET", "/automations");
      if (this.#fresh !== fresh) return;
      this.#fresh = null;
      this.#automations = new Map([...automations.map((each) => [each.id, each] as const), ...fresh]);
    } catch {
      setTimeout(() => this.#fresh === fresh && void this.#load(), TRY_AGAIN_MS);
    }
  }
}

export const inbox = new Inbox();
