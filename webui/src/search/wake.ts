// Past sessions that Navi can wake: its own, and those of agents whose sessions it can adopt.

import { call } from "../api";
import { isAdoptable } from "../session/agent";
import type { Session } from "../types";
import { projectName } from "./hits";

export interface Past {
  id: string;
  source: string;
  source_session_id: string | null;
  title: string | null;
  project: string | null;
  resume: string | null;
  is_archived: boolean;
}

export interface Wakeable {
  name: string;
  /** The session, if Navi already has it. */
  live: Session | null;
  /** The id to wake; adopts the session first if Navi does not have it yet. */
  sessionId: () => Promise<string>;
}

export function toWakeable(past: Past, sessions: ReadonlyMap<string, Session>): Wakeable | null {
  if (past.source === "navi") {
    const live = sessions.get(past.source_session_id ?? "");
    return live ? { name: live.title, live, sessionId: async () => live.id } : null;
  }
  if (!isAdoptable(past.source) || past.resume === null || past.is_archived) return null;
  return {
    name: past.title || projectName(past.project),
    live: null,
    sessionId: async () => (await call<Session>("POST", `/archive/sessions/${past.id}/adopt`)).id,
  };
}
