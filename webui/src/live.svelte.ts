// Live sessions, kept up to date by the server's events.

import { call, query, Refused, words } from "./api";
import { Line } from "./line";
import { begin, prepend, reduce, type Conversation } from "./reducer";
import { listed, newNeeds, update, type Sessions } from "./sessions";
import type {
  DeliveryMode,
  Event,
  IndexRefreshed,
  IndexState,
  Input,
  Message,
  Question,
  Session,
  Snapshot,
} from "./types";
import { newId } from "./api";

const FIRST_MESSAGES = 100;
const MORE_MESSAGES = 300;
const TRY_AGAIN_MS = 1_000;
/** Events that don't affect the list of sessions. */
const UNLISTED = new Set(["stream_delta", "thinking_delta", "tool_call"]);

/** All sessions of the user. */
class Overview {
  sessions: Sessions = $state.raw(new Map());
  isLoaded = $state(false);
  /** Whether the archived ones are loaded, too. */
  hasArchived = $state(false);
  #line: Line<Event | IndexRefreshed> | null = null;
  #early: Event[] | null = [];

  start(): void {
    // Listen before loading: events that arrive in between are applied on top.
    this.#line = new Line<Event | IndexRefreshed>({
      path: () => "/ws",
      onOpen: () => {
        void this.#load();
        openNews.publish();
        indexNews.publish(null);
        sessionNews.publish();
      },
      onFrames: (frames) => this.#take(frames),
    });
  }

  stop(): void {
    this.#line?.close();
  }

  showArchived(isWanted: boolean): void {
    this.hasArchived = isWanted;
    if (isWanted) void this.#load();
  }

  async #load(): Promise<void> {
    const early: Event[] = [];
    this.#early = early;
    try {
      let sessions = this.hasArchived ? [] : await call<Session[]>("GET", "/sessions");
      // If all of them are archived, the list says so.
      if (sessions.length === 0) sessions = await call<Session[]>("GET", "/sessions?archived=true");
      // A later call is under way; what arrived since then is kept for that one.
      if (this.#early !== early) return;
      this.#early = null;
      this.#show(update(listed(sessions), early));
      this.isLoaded = true;
    } catch {
      setTimeout(() => this.#early === early && void this.#load(), TRY_AGAIN_MS);
    }
  }

  #take(frames: (Event | IndexRefreshed)[]): void {
    const news: Event[] = [];
    for (const frame of frames) {
      if (frame.type === "index_refreshed") indexNews.publish(frame.index);
      else if (frame.seq !== undefined && !UNLISTED.has(frame.type)) news.push(frame);
      if (frame.type === "automation_update") automationNews.publish(frame);
      if (frame.type === "question_update") questionNews.publish(frame.question);
    }
    if (this.#early !== null) this.#early.push(...news);
    else if (news.length > 0) this.#show(update(this.sessions, news));
    if (news.length > 0) sessionNews.publish();
  }

  #show(sessions: Sessions): void {
    const needs = this.isLoaded ? newNeeds(this.sessions, sessions) : [];
    this.sessions = sessions;
    for (const session of needs) needNews.publish(session);
  }
}

export const overview = new Overview();

type AutomationEvent = Extract<Event, { type: "automation_update" }>;

/** Changes other than those of sessions, for the views that show them. */
class News<Item> {
  listeners = new Set<(item: Item) => void>();

  publish(item: Item): void {
    for (const listener of this.listeners) listener(item);
  }
}

export const automationNews = new News<AutomationEvent>();
export const questionNews = new News<Question>();
/** The connection is open, perhaps again: what happened before is not repeated, so load it. */
export const openNews = new News<void>();
/** A session has begun to need a person. */
export const needNews = new News<Session>();
/** Something happened in some session, or may have happened while the connection was lost. */
export const sessionNews = new News<void>();
/** Null after a lost connection: missed news is not repeated, so reload. */
export const indexNews = new News<IndexState | null>();

/** An input being sent: kept until the server confirms it. */
export interface Outgoing {
  id: string;
  text: string;
  mode: DeliveryMode;
  error: string | null;
}

/** One session: a snapshot, then its events. */
export class Watched {
  conversation: Conversation | null = $state.raw(null);
  outgoing: Outgoing[] = $state([]);
  isLoadingOlder = $state(false);
  missing: string | null = $state(null);
  #line: Line<Event> | null = null;
  #isClosed = false;

  constructor(readonly id: string) {
    void this.#open();
  }

  close(): void {
    this.#isClosed = true;
    this.#line?.close();
  }

  async #open(): Promise<void> {
    this.#line?.close();
    let snapshot: Snapshot;
    try {
      const path = `/sessions/${this.id}/snapshot?${query({ limit: FIRST_MESSAGES })}`;
      snapshot = await call<Snapshot>("GET", path);
    } catch (error) {
      if (this.#isClosed) return;
      if (error instanceof Refused && error.status < 500) this.missing = words(error);
      else setTimeout(() => !this.#isClosed && void this.#open(), TRY_AGAIN_MS);
      return;
    }
    if (this.#isClosed) return;
    this.conversation = begin(snapshot);
    this.#line = new Line<Event>({
      path: () => `/ws/sessions/${this.id}?after=${this.conversation?.seq ?? 0}`,
      onFrames: (frames) => this.#take(frames),
      onRefused: () => (this.missing = "this session no longer exists"),
    });
  }

  #take(frames: Event[]): void {
    if (this.conversation === null) return;
    this.conversation = reduce(
      this.conversation,
      frames.filter((frame) => frame.seq !== undefined),
    );
    const { hasGap, isDeleted } = this.conversation;
    if (hasGap) void this.#open();
    if (isDeleted) this.missing = "this session was deleted";
  }

  async loadOlder(): Promise<void> {
    const conversation = this.conversation;
    if (conversation === null || conversation.firstIdx === 0 || this.isLoadingOlder) return;
    this.isLoadingOlder = true;
    try {
      const page = query({ before_idx: conversation.firstIdx, limit: MORE_MESSAGES });
      const path = `/sessions/${this.id}/messages?${page}`;
      const older = await call<Message[]>("GET", path);
      if (this.conversation !== null) this.conversation = prepend(this.conversation, older);
    } finally {
      this.isLoadingOlder = false;
    }
  }

  /** Retries until it arrives; always with the same id, so it arrives once. */
  send(text: string, mode: DeliveryMode): void {
    this.outgoing.push({ id: newId(), text, mode, error: null });
    void this.#post(this.outgoing.at(-1)!);
  }

  dismiss(id: string): void {
    this.outgoing = this.outgoing.filter((each) => each.id !== id);
  }

  async #post(outgoing: Outgoing): Promise<void> {
    const body = { text: outgoing.text, delivery_mode: outgoing.mode, input_id: outgoing.id };
    try {
      await call("POST", `/sessions/${this.id}/input`, body);
      this.dismiss(outgoing.id);
    } catch (error) {
      if (error instanceof Refused && error.status < 500) outgoing.error = words(error);
      else setTimeout(() => void this.#post(outgoing), TRY_AGAIN_MS);
    }
  }

  change(input: Input, changes: { text?: string; delivery_mode?: DeliveryMode }): Promise<Input> {
    return call("PATCH", `/sessions/${this.id}/queue/${input.id}`, changes);
  }

  remove(input: Input): Promise<unknown> {
    return call("DELETE", `/sessions/${this.id}/queue/${input.id}`);
  }

  stop(): Promise<unknown> {
    return call("POST", `/sessions/${this.id}/stop`);
  }
}
