// What the memory found, ready to be shown.

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
  isFound: boolean;
}

/** The server counts characters, JavaScript halves of some. */
export function pieces(hit: Hit): Piece[] {
  const characters = [...hit.snippet];
  const found: Piece[] = [];
  let from = 0;
  for (const [start, end] of hit.highlights) {
    found.push({ text: characters.slice(from, start).join(""), isFound: false });
    found.push({ text: characters.slice(start, end).join(""), isFound: true });
    from = end;
  }
  found.push({ text: characters.slice(from).join(""), isFound: false });
  return found.filter((piece) => piece.text !== "");
}

/** The same for the same passage, whatever else was found. */
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

/** The last two folders: enough to know it again. */
export function place(project: string | null): string {
  return project?.split("/").filter(Boolean).slice(-2).join("/") ?? "";
}
