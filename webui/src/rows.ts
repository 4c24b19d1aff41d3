// A conversation is a list of rows. The transcript and the events of a running turn both become rows
// here, and a turn gives the same rows either way.

import type { Json, Message, Origin, Outcome, Question, ToolCall } from "./types";

export interface Sender {
  id: string;
  name: string;
  /** Missing from messages of older versions. */
  title?: string;
}

/** When a text was written and by which model, as the session names it; null while its turn runs. */
export interface Signature {
  at: string | null;
  model: string | null;
}

export type Row =
  | {
      kind: "input";
      key: string;
      text: string;
      origin: Origin;
      /** The session that sent it. */
      sender: Sender | null;
      metadata: Json;
      at: string;
    }
  | { kind: "thinking"; key: string; text: string }
  | ({ kind: "text"; key: string; text: string } & Signature)
  | {
      kind: "tool";
      key: string;
      name: string;
      arguments: Json;
      result: string | null;
      isError: boolean;
      /** The agent's id for the call. */
      callId?: string;
      /** The call waits for a person's permission. */
      isAsking?: boolean;
      /** The call comes from the memory, which has at most an excerpt of its output. */
      isPast?: boolean;
    }
  /** A closed question. */
  | { kind: "question"; key: string; question: Question }
  | { kind: "summary"; key: string; text: string }
  | { kind: "notice"; key: string; text: string; at: string }
  | { kind: "end"; key: string; outcome: Outcome; error: string | null; at: string };

/** What an agent did in one step: some thinking, some text, then tools. */
export interface Step {
  thinking: string;
  text: string;
  calls: ToolCall[];
}

export const NOTHING_TO_REPORT = "(finished with nothing to report)";

const UNSIGNED: Signature = { at: null, model: null };

export function rowsOfStep(key: string, step: Step, signature: Signature = UNSIGNED): Row[] {
  const rows: Row[] = [];
  if (step.thinking) rows.push({ kind: "thinking", key: `${key}.thinking`, text: step.thinking });
  if (step.text) rows.push({ kind: "text", key: `${key}.text`, text: step.text, ...signature });
  for (const call of step.calls) {
    rows.push({
      kind: "tool",
      key: `${key}.${call.id}`,
      name: call.name,
      arguments: call.arguments,
      result: call.result,
      isError: call.is_error,
      callId: call.id,
    });
  }
  return rows;
}

export function rowsOfMessages(messages: readonly Message[]): Row[] {
  return messages.flatMap(rowsOfMessage);
}

function rowsOfMessage(message: Message): Row[] {
  if (message.role === "user") {
    return [
      {
        kind: "input",
        key: message.id,
        text: message.content,
        origin: message.source,
        sender: senderIn(message.metadata),
        metadata: message.metadata,
        at: message.timestamp,
      },
    ];
  }
  if (message.role === "system") {
    const { id: key, content: text, timestamp: at } = message;
    const isNotice = message.metadata["automation_id"] !== undefined;
    return [isNotice ? { kind: "notice", key, text, at } : { kind: "summary", key, text }];
  }
  const outcome = message.metadata["outcome"] as Outcome | undefined;
  const error = (message.metadata["error"] as string | null | undefined) ?? null;
  const isClosing = outcome !== undefined && isClosingLine(message.content, error);
  const text = isClosing ? "" : message.content;
  const rows = rowsOfStep(message.id, { ...message, text, calls: message.tool_calls }, {
    at: message.timestamp,
    model: (message.metadata["model"] as string | undefined) ?? null,
  });
  if (outcome !== undefined) {
    rows.push({ kind: "end", key: `${message.id}.end`, outcome, error, at: message.timestamp });
  }
  return rows;
}

export function senderIn(metadata: Json): Sender | null {
  return (metadata["sender"] as Sender | undefined) ?? null;
}

/** Whether the server wrote this text, like "(failed: no model)", for a turn that ended without an answer. */
function isClosingLine(text: string, error: string | null): boolean {
  if (error === null) return text === "(stopped)";
  return text.startsWith("(") && text.endsWith(`${error})`);
}
