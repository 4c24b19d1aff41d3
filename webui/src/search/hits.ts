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
  /** False if it has only some of them. Such hits come last. */
  has_all_words: boolean;
  resume: string | null;
}

export interface Piece {
  text: string;
  isMatch: boolean;
}

/** The server counts code points, JavaScript counts UTF-16 units. */
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

/** Where the passage is in its transcript. */
export function target(hit: Hit): string {
  return address({ view: "archive", id: hit.session_id, message: hit.tool_call_id ?? hit.message_id });
}

export function countWords(passages: number, sessions: number, most: number): string {
  const inSessions = `in ${sessions} ${sessions === 1 ? "session" : "sessions"}`;
  if (passages >= most) return `The best ${passages} passages, ${inSessions}`;
  return `${passages} ${passages === 1 ? "passage" : "passages"} ${inSessions}`;
}

/** The hits of one session together, the best session first. */
export function grouped(hits: readonly Hit[]): Hit[][] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.session_id, [...(groups.get(hit.session_id) ?? []), hit]);
  return [...groups.values()];
}

/** The last two folders: enough to recognise it. */
export function place(project: string | null): string {
  return project?.split("/").filter(Boolean).slice(-2).join("/") ?? "";
}
