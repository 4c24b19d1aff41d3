// The questions of all sessions, kept up to date by the server's events.

import { SvelteMap } from "svelte/reactivity";
import { call, query, ApiError, errorText } from "../api";
import { openNews, questionNews } from "../live.svelte";
import { currentLogin } from "../login/login";
import type { Json, Question, QuestionAnswer } from "../types";
import { merge, openQuestions, type Questions } from "./question";

const TRY_AGAIN_MS = 1_000;
const CLOSED = 409;

export type Answer = Pick<QuestionAnswer, "decision"> & { text?: string; choices?: string[]; updated_input?: Json };

class AllQuestions {
  /** All open questions, and those closed questions that a view loaded or that were closed meanwhile. */
  all: Questions = $state.raw(new Map());
  readonly open = $derived(openQuestions(this.all));
  /** Questions that were already closed when this person answered, by id, with the server's error. */
  readonly late = new SvelteMap<string, string>();
  /** The ids of questions that changed while the open ones are being loaded; otherwise null. */
  #fresh: Set<string> | null = null;
  #sessionIds = new Set<string>();

  constructor() {
    questionNews.listeners.add((question) => {
      this.#fresh?.add(question.id);
      this.#add([question]);
    });
    openNews.listeners.add(() => {
      void this.#load();
      for (const id of this.#sessionIds) void this.#loadSession(id);
    });
  }

  ofSession(id: string): Question[] {
    return [...this.all.values()].filter((question) => question.session_id === id);
  }

  /** Also loads a session's closed questions, now and after reconnecting; returns a function that stops it. */
  watch(sessionId: string): () => void {
    this.#sessionIds.add(sessionId);
    void this.#loadSession(sessionId);
    return () => this.#sessionIds.delete(sessionId);
  }

  /** Answers a question; returns an error text, or an empty text. */
  async answer(question: Question, answer: Answer): Promise<string> {
    const path = `/questions/${question.id}`;
    try {
      this.#add([await call<Question>("POST", `${path}/answer`, { ...answer, via: "page" })]);
      return "";
    } catch (error) {
      if (!(error instanceof ApiError && error.status === CLOSED)) return errorText(error);
      this.late.set(question.id, errorText(error));
      await call<Question>("GET", path).then((closed) => this.#add([closed]), () => {});
      return "";
    }
  }

  get me(): string | null {
    return currentLogin()?.user ?? null;
  }

  #add(news: Iterable<Question>): void {
    this.all = merge(this.all, news);
  }

  /** Loads the open questions, and drops those that were closed while the connection was lost. */
  async #load(): Promise<void> {
    const fresh = new Set<string>();
    this.#fresh = fresh;
    try {
      const open = await call<Question[]>("GET", "/questions?state=open");
      if (this.#fresh !== fresh) return;
      this.#fresh = null;
      const kept = [...this.all].filter(([id, { state }]) => state !== "open" || fresh.has(id));
      this.all = merge(new Map(kept), open);
    } catch {
      setTimeout(() => this.#fresh === fresh && void this.#load(), TRY_AGAIN_MS);
    }
  }

  async #loadSession(id: string): Promise<void> {
    try {
      this.#add(await call<Question[]>("GET", `/questions?${query({ session_id: id })}`));
    } catch (error) {
      // A session that is gone has no questions.
      if (error instanceof ApiError && error.status < 500) return;
      setTimeout(() => this.#sessionIds.has(id) && void this.#loadSession(id), TRY_AGAIN_MS);
    }
  }
}

export const questions = new AllQuestions();
