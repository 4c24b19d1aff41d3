// Live sessions, kept up to date by the server's events.

import { call, query, ApiError, errorText } from "./api";
import { Line } from "./line";
import { begin, prepend, reduce, type Conversation } from "./reducer";
import { byId, newNeeds, update, type Sessions } from "./sessions";
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
  /** Whether archived sessions are loaded, too. */
  hasArchived = $state(false);
  #line: Line<Event | IndexRefreshed> | null = null;
  #eventsWhileLoading: Event[] | null = [];

  start(): void {
    // Listen before loading: events that arrive in between are applied to the loaded list.
    this.#line = new Line<Event | IndexRefreshed>({
      path: () => "/ws",
      onOpen: () => {
        void this.#load();
        openNews.publish();
        indexNews.publish(null);
        sessionNews.publish();
      },
      onFrames: (frames) => this.#receive(frames),
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
    this.#eventsWhileLoading = early;
    try {
      let sessions = this.hasArchived ? [] : await call<Session[]>("GET", "/sessions");
      // If all sessions are archived, load them, so that the list can say so.
      if (sessions.length === 0) sessions = await call<Session[]>("GET", "/sessions?archived=true");
      // A later call has been sent; the events since then are kept for that one.
      if (this.#eventsWhileLoading !== early) return;
      this.#eventsWhileLoading = null;
      this.#show(update(byId(sessions), early));
      this.isLoaded = true;
    } catch {
      setTimeout(() => this.#eventsWhileLoading === early && void this.#load(), TRY_AGAIN_MS);
    }
  }

  #receive(frames: (Event | IndexRefreshed)[]): void {
    const news: Event[] = [];
    for (const frame of frames) {
      if (frame.type === "index_refreshed") indexNews.publish(frame.index);
      else if (frame.seq !== undefined && !UNLISTED.has(frame.type)) news.push(frame);
      if (frame.type === "automation_update") automationNews.publish(frame);
      if (frame.type === "question_update") questionNews.publish(frame.question);
    }
    if (this.#eventsWhileLoading !== null) this.#eventsWhileLoading.push(...news);
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

/** Notifies views of one kind of change. */
class News<Item> {
  listeners = new Set<(item: Item) => void>();

  publish(item: Item): void {
    for (const listener of this.listeners) listener(item);
  }
}

export const automationNews = new News<AutomationEvent>();
export const questionNews = new News<Question>();
/** The connection was opened or reopened. Earlier events are not repeated, so load the present state. */
export const openNews = new News<void>();
/** A session has begun to need a person. */
export const needNews = new News<Session>();
/** Something happened in some session, or may have happened while the connection was lost. */
export const sessionNews = new News<void>();
/** The new state of the index; null after a lost connection, because missed changes are not repeated. */
export const indexNews = new News<IndexState | null>();

/** An input that is being sent, kept until the server confirms it. */
export interface Outgoing {
  id: string;
  text: string;
  mode: DeliveryMode;
  error: string | null;
}

/** One session on screen: loads a snapshot, then applies its events. */
export class LiveSession {
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
      if (error instanceof ApiError && error.status < 500) this.missing = errorText(error);
      else setTimeout(() => !this.#isClosed && void this.#open(), TRY_AGAIN_MS);
      return;
    }
    if (this.#isClosed) return;
    this.conversation = begin(snapshot);
    this.#line = new Line<Event>({
      path: () => `/ws/sessions/${this.id}?after=${this.conversation?.seq ?? 0}`,
      onFrames: (frames) => this.#receive(frames),
      onRefused: () => (this.missing = "this session no longer exists"),
    });
  }

  #receive(frames: Event[]): void {
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

  /** Sends an input, and retries until it arrives. All attempts have the same id, so it arrives once. */
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
      if (error instanceof ApiError && error.status < 500) outgoing.error = errorText(error);
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
