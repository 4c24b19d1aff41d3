// Search hits, ready to display.

import { address } from "../route.svelte";

/** How many passages of one session are listed. */
export const SHOWN_PER_SESSION = 4;

export interface Hit {
  session_id: string;
  source: string;
  source_session_id: string | null;
  message_id: string | null;
  tool_call_id: string | null;
  kind: "content" | "thinking" | "bash" | "file" | "output";
  role: string | null;
  tool_name: string | null;
  timestamp: string | null;
  /** The message's number in its session. */
  idx?: number | null;
  project: string | null;
  /** The machine that the session is from; null for the server's. */
  host: string | null;
  title: string | null;
  snippet: string;
  highlights: [number, number][];
  /** False if it has only some of the query's words. Such hits come last. */
  has_all_words: boolean;
  resume: string | null;
}

export interface Piece {
  text: string;
  isMatch: boolean;
}

/** The snippet, split at its highlights. The server counts code points, JavaScript UTF-16 units. */
export function pieces(hit: Hit): Piece[] {
  const characters = [...hit.snippet];
  const parts: Piece[] = [];
  let from = 0;
  for (const [start, end] of hit.highlights) {
    parts.push({ text: characters.slice(from, start).join(""), isMatch: false });
    parts.push({ text: characters.slice(start, end).join(""), isMatch: true });
    from = end;
  }
  parts.push({ text: characters.slice(from).join(""), isMatch: false });
  return parts.filter((piece) => piece.text !== "");
}

/** The address of the passage in its transcript. */
export function target(hit: Hit): string {
  return address({ view: "archive", id: hit.session_id, message: hit.tool_call_id ?? hit.message_id });
}

export function countWords(passages: number, sessions: number, limit: number): string {
  const inSessions = `in ${sessions} ${sessions === 1 ? "session" : "sessions"}`;
  if (passages >= limit) return `The best ${passages} passages, ${inSessions}`;
  return `${passages} ${passages === 1 ? "passage" : "passages"} ${inSessions}`;
}

/** Groups the hits by session, the best session first. */
export function groupBySession(hits: readonly Hit[]): Hit[][] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.session_id, [...(groups.get(hit.session_id) ?? []), hit]);
  return [...groups.values()];
}

/** The last two folders of the project's path, which are enough to recognise it. */
export function projectName(project: string | null): string {
  return project?.split("/").filter(Boolean).slice(-2).join("/") ?? "";
}
