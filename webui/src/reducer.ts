// Turns events into the rows of a conversation. Pure: tests run this file on a real server's events.

import { NOTHING_TO_REPORT, rowsOfMessages, rowsOfStep, senderIn, type Row, type Signature, type Step } from "./rows";
import type { Event, Input, Message, Origin, Session, Snapshot } from "./types";

export interface Turn {
  readonly id: string;
  readonly origin: Origin;
  readonly startedAt: string;
  /** The index of its first row. */
  readonly from: number;
  /** How many inputs it has; their rows come first. */
  readonly inputs: number;
  /** Its current step, and the index of that step's first row. */
  readonly step: Step;
  readonly stepFrom: number;
  readonly stepNumber: number;
}

export interface Conversation {
  readonly session: Session;
  /** The number of the last applied event. */
  readonly seq: number;
  readonly rows: readonly Row[];
  readonly queue: readonly Input[];
  readonly turn: Turn | null;
  /** The index of the oldest loaded message; 0 if there are no older ones. */
  readonly firstIdx: number;
  readonly isDeleted: boolean;
  /** An event is missing; a new snapshot is needed. */
  readonly hasGap: boolean;
}

const EMPTY: Step = { thinking: "", text: "", calls: [] };
const NOT_FINISHED = "(not finished: the turn ended first)";
const MODES = ["urgent", "important", "sequential"];

export function begin(snapshot: Snapshot): Conversation {
  return {
    session: snapshot.session,
    seq: snapshot.after,
    rows: rowsOfMessages(snapshot.messages),
    queue: inOrder(snapshot.queue),
    turn: null,
    firstIdx: snapshot.messages[0]?.idx ?? 0,
    isDeleted: false,
    hasGap: false,
  };
}

/** Adds older messages at the top. */
export function prepend(conversation: Conversation, messages: readonly Message[]): Conversation {
  const first = messages[0];
  if (first === undefined) return { ...conversation, firstIdx: 0 };
  const older = rowsOfMessages(messages);
  const { turn } = conversation;
  const moved = turn && {
    ...turn,
    from: turn.from + older.length,
    stepFrom: turn.stepFrom + older.length,
  };
  const rows = [...older, ...conversation.rows];
  return { ...conversation, rows, turn: moved, firstIdx: first.idx };
}

/** Ignores events it has already applied. */
export function reduce(conversation: Conversation, events: readonly Event[]): Conversation {
  const draft = { ...conversation, rows: [...conversation.rows] };
  for (const event of events) {
    if (event.seq <= draft.seq) continue;
    if (event.seq > draft.seq + 1) return { ...draft, hasGap: true };
    draft.seq = event.seq;
    apply(draft, event);
  }
  return draft;
}

/** Whether the running turn is the answer to this input. */
export function isAtWorkOn({ turn, rows }: Conversation, inputId: string): boolean {
  if (turn === null) return false;
  return rows.slice(turn.from, turn.from + turn.inputs).some((row) => row.key === inputId);
}

type Draft = { -readonly [Name in keyof Conversation]: Conversation[Name] } & { rows: Row[] };

function apply(draft: Draft, event: Event): void {
  switch (event.type) {
    case "input_queued":
      // A turn that was undone gives its input back: remove its row.
      draft.rows = draft.rows.filter((row) => row.key !== event.input.id);
      draft.queue = inOrder([...without(draft.queue, event.input.id), event.input]);
      break;
    case "input_removed":
      draft.queue = without(draft.queue, event.input_id);
      break;
    case "input_delivered":
      draft.queue = without(draft.queue, event.input.id);
      deliver(draft, event.input, event.turn_id, event.at);
      break;
    case "stream_start":
      draft.turn ??= newTurn(event.turn_id ?? "", event.origin, event.at, draft.rows.length);
      draft.session = { ...draft.session, state: "running" };
      break;
    case "thinking_delta":
      extend(draft, (step) => ({ ...step, thinking: step.thinking + event.delta }));
      break;
    case "stream_delta":
      extend(draft, (step) => ({ ...step, text: step.text + event.delta }));
      break;
    case "tool_started": {
      const call = { ...event, id: event.tool_call_id, result: null, is_error: false };
      extend(draft, (step) => ({ ...step, calls: [...step.calls, call] }));
      break;
    }
    case "tool_call":
      record(draft, event);
      break;
    case "history_compacted":
      draft.rows.push({ kind: "summary", key: `${event.seq}`, text: event.summary });
      nextStep(draft);
      break;
    case "message_added":
      addMessage(draft, event.message);
      break;
    case "stream_end":
      end(draft, event);
      break;
    case "session_sync":
      draft.session = event.session;
      break;
    case "session_update":
      draft.session = event.session;
      draft.isDeleted = event.deleted ?? false;
      break;
    case "recall_update":
      draft.session = { ...draft.session, pending_recall: event.recall };
      break;
  }
}

function deliver(draft: Draft, input: Input, turnId: string | null, at: string): void {
  const row = rowOfInput(input, at);
  if (turnId === null) {
    // A nudge that reached an agent in a person's own terminal, outside of any turn of Navi's.
    draft.rows.push(row);
    return;
  }
  // Messages queued together start one turn.
  let turn = draft.turn;
  if (turn?.id !== turnId) turn = newTurn(turnId, input.origin, at, draft.rows.length);
  // An input that arrives during the turn joins the others, as in the transcript.
  draft.rows.splice(turn.from + turn.inputs, 0, row);
  draft.turn = { ...turn, inputs: turn.inputs + 1, stepFrom: turn.stepFrom + 1 };
}

function newTurn(id: string, origin: Origin, startedAt: string, from: number): Turn {
  return { id, origin, startedAt, from, inputs: 0, step: EMPTY, stepFrom: from, stepNumber: 1 };
}

function rowOfInput(input: Input, at: string): Row {
  return {
    kind: "input",
    key: input.id,
    text: input.text,
    origin: input.origin,
    sender: senderIn(input.metadata),
    metadata: input.metadata,
    at,
  };
}

/** A step is closed once all its tools have answered; what follows belongs to the next one. */
function isClosed(step: Step): boolean {
  return step.calls.length > 0 && step.calls.every((call) => call.result !== null);
}

function extend(draft: Draft, change: (step: Step) => Step): void {
  if (draft.turn === null) return;
  if (isClosed(draft.turn.step)) nextStep(draft);
  show(draft, change(draft.turn.step));
}

function nextStep(draft: Draft): void {
  if (draft.turn === null) return;
  const stepNumber = draft.turn.stepNumber + 1;
  draft.turn = { ...draft.turn, step: EMPTY, stepFrom: draft.rows.length, stepNumber };
}

function show(draft: Draft, step: Step): void {
  if (draft.turn === null) return;
  draft.turn = { ...draft.turn, step };
  draft.rows.length = draft.turn.stepFrom;
  draft.rows.push(...rowsOfStep(`${draft.turn.id}.${draft.turn.stepNumber}`, step));
}

function record(draft: Draft, done: Extract<Event, { type: "tool_call" }>): void {
  if (draft.turn === null) return;
  const call = { ...done, id: done.tool_call_id };
  const { step } = draft.turn;
  if (step.calls.some((each) => each.id === call.id)) {
    const calls = step.calls.map((each) => (each.id === call.id ? call : each));
    show(draft, { ...step, calls });
    return;
  }
  // This agent reports only finished calls.
  if (step !== EMPTY) nextStep(draft);
  show(draft, { ...EMPTY, calls: [call] });
}

/** During a turn, the message goes after the turn's inputs, as in the transcript. */
function addMessage(draft: Draft, message: Message): void {
  const rows = rowsOfMessages([message]);
  const { turn } = draft;
  if (turn === null) {
    draft.rows.push(...rows);
    return;
  }
  draft.rows.splice(turn.from + turn.inputs, 0, ...rows);
  draft.turn = { ...turn, stepFrom: turn.stepFrom + rows.length };
}

function end(draft: Draft, event: Extract<Event, { type: "stream_end" }>): void {
  const { turn } = draft;
  draft.turn = null;
  draft.session = { ...draft.session, state: "idle" };
  if (turn === null) return;
  if (event.message_id === null) {
    // The turn was undone, as if it had never begun.
    draft.rows.length = turn.from;
    return;
  }
  const { outcome, error, at } = event;
  const signature = { at, model: draft.session.model };
  draft.rows = draft.rows.map((row, index) => (index < turn.from ? row : closedRow(row, signature)));
  if (outcome !== "ok") {
    draft.rows.push({ kind: "end", key: `${turn.id}.end`, outcome, error, at });
  } else if (turn.step.text === "" && turn.step.calls.length === 0) {
    draft.rows.push({ kind: "text", key: `${turn.id}.end`, text: NOTHING_TO_REPORT, ...signature });
  }
}

function closedRow(row: Row, signature: Signature): Row {
  if (row.kind === "text") return { ...row, ...signature };
  if (row.kind === "tool" && row.result === null) return { ...row, result: NOT_FINISHED, isError: true };
  return row;
}

function without(queue: readonly Input[], id: string): Input[] {
  return queue.filter((input) => input.id !== id);
}

/** The order of delivery. */
function inOrder(queue: readonly Input[]): Input[] {
  return [...queue].sort(
    (a, b) =>
      MODES.indexOf(a.delivery_mode) - MODES.indexOf(b.delivery_mode) || compareQueued(a, b),
  );
}

/** The order within a delivery mode: by `not_before` or arrival, then by admission. */
function compareQueued(a: Input, b: Input): number {
  const [first, second] = [a.not_before ?? a.queued_at, b.not_before ?? b.queued_at];
  return first.localeCompare(second) || (a.ordinal ?? 0) - (b.ordinal ?? 0);
}
