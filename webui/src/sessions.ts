// The list of sessions: how events change it, and its order.

import type { Event, Session } from "./types";

export type Sessions = ReadonlyMap<string, Session>;

/** Sessions of background automations; they are never listed. */
const HIDDEN = "cron:";

export function listed(sessions: readonly Session[]): Sessions {
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
        if (existing) changed.set(existing.id, { ...existing, state: "running", updated_at: event.at });
        break;
      case "recall_update":
        if (existing) changed.set(existing.id, { ...existing, pending_recall: event.recall });
        break;
    }
  }
  return changed;
}

export interface Place {
  session: Session;
  depth: number;
}

/** Newest activity first, and children under their parent. */
export function arranged(sessions: Iterable<Session>): Place[] {
  const all = [...sessions];
  const ids = new Set(all.map((session) => session.id));
  const children = new Map<string | null, Session[]>();
  for (const session of all) {
    const parent = session.parent_id !== null && ids.has(session.parent_id) ? session.parent_id : null;
    children.set(parent, [...(children.get(parent) ?? []), session]);
  }
  const latest = new Map<string, string>();
  const latestOf = (session: Session): string => {
    const existing = latest.get(session.id);
    if (existing !== undefined) return existing;
    // Set before visiting children, so that a cycle of parents ends.
    latest.set(session.id, session.updated_at);
    const times = (children.get(session.id) ?? []).map(latestOf);
    const newest = [session.updated_at, ...times].sort().at(-1) ?? session.updated_at;
    latest.set(session.id, newest);
    return newest;
  };
  const places: Place[] = [];
  const add = (parent: string | null, depth: number): void => {
    const own = [...(children.get(parent) ?? [])];
    own.sort((a, b) => latestOf(b).localeCompare(latestOf(a)) || a.id.localeCompare(b.id));
    for (const session of own) {
      places.push({ session, depth });
      add(session.id, depth + 1);
    }
  };
  add(null, 0);
  return places;
}
