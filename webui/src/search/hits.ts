// Search hits, ready to display.

export interface Hit {
  session_id: string;
  source: string;
  source_session_id: string | null;
  message_id: string | null;
  tool_call_id: string | null;
  kind: "content" | "thinking" | "bash";
  role: string | null;
  tool_name: string | null;
  timestamp: string | null;
  /** The message's number in its session. */
  idx?: number | null;
  project: string | null;
  title: string | null;
  snippet: string;
  highlights: [number, number][];
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

/** Identifies a passage across searches. */
export function keyOf(hit: Hit): string {
  return [hit.session_id, hit.tool_call_id ?? hit.message_id, hit.kind].join(" ");
}

/** The hits of one session together, the best session first. */
export function grouped(hits: readonly Hit[]): Hit[][] {
  const groups = new Map<string, Hit[]>();
  for (const hit of hits) groups.set(hit.session_id, [...(groups.get(hit.session_id) ?? []), hit]);
  return [...groups.values()];
}

export function sourceName(source: string): string {
  return { claude_code: "Claude Code", codex: "Codex", navi: "Navi" }[source] ?? source;
}

/** The last two folders: enough to recognise it. */
export function place(project: string | null): string {
  return project?.split("/").filter(Boolean).slice(-2).join("/") ?? "";
}
