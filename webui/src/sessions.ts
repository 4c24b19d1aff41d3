// Applies events to the list of sessions, and decides which sessions need a person.

import type { Attention, Event, Session } from "./types";

export type Sessions = ReadonlyMap<string, Session>;

/** Sessions of background automations; they are never listed. */
const HIDDEN = "cron:";

export function byId(sessions: readonly Session[]): Sessions {
  return new Map(sessions.map((session) => [session.id, session]));
}

export function update(sessions: Sessions, events: readonly Event[]): Sessions {
  const changed = new Map(sessions);
  for (const event of events) {
    if (event.session_id.startsWith(HIDDEN)) continue;
    const existing = changed.get(event.session_id);
    switch (event.type) {
      case "session_update":
        if (event.deleted) changed.delete(event.session_id);
        else changed.set(event.session_id, event.session);
        break;
      case "session_sync":
        changed.set(event.session_id, event.session);
        break;
      case "stream_start":
        if (existing) {
          const { at, attention } = event;
          changed.set(existing.id, { ...existing, state: "running", updated_at: at, attention });
        }
        break;
      case "recall_update":
        if (existing) changed.set(existing.id, { ...existing, pending_recall: event.recall });
        break;
    }
  }
  return changed;
}

/** The properties that decide where a session is listed. */
export type Standing = Pick<Session, "attention" | "pinned" | "archived">;

const NEEDING: ReadonlySet<Attention | null> = new Set(["waiting", "failed", "finished"]);

export function needsPerson({ attention }: Pick<Session, "attention">): boolean {
  return NEEDING.has(attention);
}

/** The sessions that need a person now, and didn't before. */
export function newNeeds(before: Sessions, after: Sessions): Session[] {
  return [...after.values()].filter(
    (session) => needsPerson(session) && before.get(session.id)?.attention !== session.attention,
  );
}
