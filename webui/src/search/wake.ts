// Which sessions of the memory Navi can wake: its own, and those it can take in from their agents.

import { call } from "../api";
import type { Session } from "../types";
import { place } from "./hits";

const TAKEN_IN = new Set(["claude_code", "codex"]);

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
  /** The session, if it is one of Navi's already. */
  live: Session | null;
  /** Takes the session in where that is needed: only when it is really woken. */
  sessionId: () => Promise<string>;
}

export function wakeable(past: Past, sessions: ReadonlyMap<string, Session>): Wakeable | null {
  if (past.source === "navi") {
    const live = sessions.get(past.source_session_id ?? "");
    return live ? { name: live.title, live, sessionId: async () => live.id } : null;
  }
  if (!TAKEN_IN.has(past.source) || past.resume === null || past.is_archived) return null;
  return {
    name: past.title || place(past.project),
    live: null,
    sessionId: async () => (await call<Session>("POST", `/archive/sessions/${past.id}/adopt`)).id,
  };
}
