// The questions of all sessions, kept up to date by the server's events.

import { SvelteMap } from "svelte/reactivity";
import { call, query, Refused, words } from "../api";
import { openNews, questionNews } from "../live.svelte";
import { currentLogin } from "../login/login";
import type { Json, Question, QuestionAnswer } from "../types";
import { merged, openOnes, type Questions } from "./question";

const TRY_AGAIN_MS = 1_000;
const CLOSED = 409;

export type Answer = Pick<QuestionAnswer, "decision"> & { text?: string; choices?: string[]; updated_input?: Json };

class AllQuestions {
  /** The open ones, and those closed ones that a view has asked for or that were closed meanwhile. */
  all: Questions = $state.raw(new Map());
  readonly open = $derived(openOnes(this.all));
  /** Questions that somebody else had closed when this person answered, and what the server said. */
  readonly late = new SvelteMap<string, string>();
  /** Questions that arrived while the open ones are being loaded. */
  #fresh: Set<string> | null = null;
  #sessionIds = new Set<string>();

  constructor() {
    questionNews.listeners.add((question) => {
      this.#fresh?.add(question.id);
      this.#take([question]);
    });
    openNews.listeners.add(() => {
      void this.#load();
      for (const id of this.#sessionIds) void this.#loadSession(id);
    });
  }

  ofSession(id: string): Question[] {
    return [...this.all.values()].filter((question) => question.session_id === id);
  }

  /** Loads the closed ones of a session too; returns what ends that. */
  watch(sessionId: string): () => void {
    this.#sessionIds.add(sessionId);
    void this.#loadSession(sessionId);
    return () => this.#sessionIds.delete(sessionId);
  }

  /** Answers a question; returns what went wrong in words, or nothing. */
  async answer(question: Question, answer: Answer): Promise<string> {
    const path = `/questions/${question.id}`;
    try {
      this.#take([await call<Question>("POST", `${path}/answer`, { ...answer, via: "page" })]);
      return "";
    } catch (error) {
      if (!(error instanceof Refused && error.status === CLOSED)) return words(error);
      this.late.set(question.id, words(error));
      await call<Question>("GET", path).then((closed) => this.#take([closed]), () => {});
      return "";
    }
  }

  get me(): string | null {
    return currentLogin()?.user ?? null;
  }

  #take(news: Iterable<Question>): void {
    this.all = merged(this.all, news);
  }

  /** After a lost connection too: what was closed meanwhile is no longer among the open ones. */
  async #load(): Promise<void> {
    const fresh = new Set<string>();
    this.#fresh = fresh;
    try {
      const open = await call<Question[]>("GET", "/questions?state=open");
      if (this.#fresh !== fresh) return;
      this.#fresh = null;
      const kept = [...this.all].filter(([id, { state }]) => state !== "open" || fresh.has(id));
      this.all = merged(new Map(kept), open);
    } catch {
      setTimeout(() => this.#fresh === fresh && void this.#load(), TRY_AGAIN_MS);
    }
  }

  async #loadSession(id: string): Promise<void> {
    try {
      this.#take(await call<Question[]>("GET", `/questions?${query({ session_id: id })}`));
    } catch (error) {
      // One that is gone has no questions either.
      if (error instanceof Refused && error.status < 500) return;
      setTimeout(() => this.#sessionIds.has(id) && void this.#loadSession(id), TRY_AGAIN_MS);
    }
  }
}

export const questions = new AllQuestions();
