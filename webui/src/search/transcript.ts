// Turns a past session into rows. The memory has tool calls, but only excerpts of their output.

import type { Row } from "../rows";
import type { Json, Origin } from "../types";

export interface PastCall {
  id: string;
  message_id: string | null;
  tool_name: string;
  tool_input: unknown;
  bash_command: string | null;
  /** The beginning, the end and the errors of what the tool printed. */
  output?: string | null;
  timestamp: string | null;
}

export interface PastMessage {
  id: string;
  idx: number;
  role: string;
  content: string | null;
  thinking: string | null;
  timestamp: string | null;
  tool_calls: PastCall[];
}

/** A past session in a list. */
export interface PastSummary {
  id: string;
  source: string;
  title: string | null;
  project: string | null;
  ended_at: string | null;
  message_count: number;
}

export interface PastSession extends PastSummary {
  source_session_id: string | null;
  /** The machine that the session is from; null for the server's. */
  host: string | null;
  model: string | null;
  started_at: string | null;
  is_archived: boolean;
  messages: PastMessage[];
  orphan_tool_calls: PastCall[];
  resume: string | null;
}

export function rowsOfPast(session: PastSession): Row[] {
  const orphans = [...session.orphan_tool_calls];
  const rows: Row[] = [];
  session.messages.forEach((message, index) => {
    rows.push(...rowsOfMessage(message, session.model), ...message.tool_calls.map(rowOfCall));
    // Codex records calls outside of messages: put each after the message that preceded it.
    const next = session.messages[index + 1]?.timestamp;
    while (orphans[0] && (next == null || (orphans[0].timestamp ?? "") < next)) {
      rows.push(rowOfCall(orphans.shift()!));
    }
  });
  return [...rows, ...orphans.map(rowOfCall)];
}

/** The row where a message or a tool call begins. */
export function rowOf(rows: readonly Row[], id: string | null): string | null {
  if (id === null) return null;
  return rows.find((row) => row.key === id || row.key.startsWith(`${id}#`))?.key ?? null;
}

function rowsOfMessage(message: PastMessage, model: string | null): Row[] {
  const rows: Row[] = [];
  const content = message.content ?? "";
  if (message.thinking) {
    rows.push({ kind: "thinking", key: `${message.id}#thinking`, text: message.thinking });
  }
  if (message.role === "user" && content !== "") {
    const origin: Origin = "user";
    const at = message.timestamp ?? "";
    rows.push({ kind: "input", key: message.id, text: content, origin, sender: null, metadata: {}, at });
  } else if (content !== "") {
    rows.push({ kind: "text", key: `${message.id}#text`, text: content, at: message.timestamp, model });
  }
  return rows;
}

function rowOfCall(call: PastCall): Row {
  const input = call.tool_input;
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const value: Json = isObject ? (input as Json) : { input };
  return {
    kind: "tool",
    key: call.id,
    name: call.tool_name,
    arguments: call.bash_command ? { command: call.bash_command } : value,
    result: call.output ?? null,
    isError: false,
    isPast: true,
  };
}
