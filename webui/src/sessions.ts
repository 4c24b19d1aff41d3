// The list of sessions: what events change in it, and in which order it is shown.

import type { Event, Session } from "./types";

export type Sessions = ReadonlyMap<string, Session>;

/** Where automations without a session of their own run: nobody opens these, and no list has them. */
const HIDDEN = "cron:";

export function listed(sessions: readonly Session[]): Sessions {
  return new Map(sessions.map((session) => [session.id, session]));
}

export function update(sessions: Sessions, events: readonly Event[]): Sessions {
  const changed = new Map(sessions);
  for (const event of events) {
    if (event.session_id.startsWith(HIDDEN)) continue;
    const known = changed.get(event.session_id);
    switch (event.type) {
      case "session_update":
        if (event.deleted) changed.delete(event.session_id);
        else changed.set(event.session_id, event.session);
        break;
      case "session_sync":
        changed.set(event.session_id, event.session);
        break;
      case "stream_start":
        if (known) changed.set(known.id, { ...known, state: "running", updated_at: event.at });
        break;
      case "recall_update":
        if (known) changed.set(known.id, { ...known, pending_recall: event.recall });
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
    const known = latest.get(session.id);
    if (known !== undefined) return known;
    // Before its children are asked: whoever is their own grandparent must not ask for ever.
    latest.set(session.id, session.updated_at);
    const times = (children.get(session.id) ?? []).map(latestOf);
    const found = [session.updated_at, ...times].sort().at(-1) ?? session.updated_at;
    latest.set(session.id, found);
    return found;
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
