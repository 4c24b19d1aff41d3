// What the list of a conversation draws: equal tool calls in a row share a line, which opens to show
// each of them, and the last text of a turn is its answer.

import type { Row } from "../rows";

export type ToolCallRow = Extract<Row, { kind: "tool" }>;

export interface ToolRun {
  kind: "run";
  key: string;
  calls: ToolCallRow[];
}

export interface Listing {
  rows: (Row | ToolRun)[];
  /** The keys of the texts that answer an input. */
  answers: Set<string>;
  /** The keys of the tool calls below the line of their run. */
  nested: Set<string>;
}

const SHORTEST_RUN = 3;

export function listing(rows: readonly Row[], opened: ReadonlySet<string>): Listing {
  const listed: (Row | ToolRun)[] = [];
  const nested = new Set<string>();
  for (let place = 0; place < rows.length; ) {
    const calls = runAt(rows, place);
    if (calls.length < SHORTEST_RUN) {
      listed.push(rows[place]!);
      place += 1;
      continue;
    }
    const run: ToolRun = { kind: "run", key: runKey(calls[0]!), calls };
    listed.push(run);
    if (opened.has(run.key)) {
      listed.push(...calls);
      for (const call of calls) nested.add(call.key);
    }
    place += calls.length;
  }
  return { rows: listed, answers: answersIn(rows), nested };
}

/** The run that hides this row, as long as it is closed. */
export function runOf(rows: readonly Row[], key: string): string | null {
  let first = rows.findIndex((row) => row.key === key);
  const row = rows[first];
  if (row?.kind !== "tool") return null;
  while (isSameTool(rows[first - 1], row)) first -= 1;
  return runAt(rows, first).length < SHORTEST_RUN ? null : runKey(rows[first] as ToolCallRow);
}

function runAt(rows: readonly Row[], first: number): ToolCallRow[] {
  const head = rows[first]!;
  const calls: ToolCallRow[] = [];
  if (head.kind !== "tool") return calls;
  for (let place = first; isSameTool(rows[place], head); place += 1) calls.push(rows[place] as ToolCallRow);
  return calls;
}

function isSameTool(row: Row | undefined, call: ToolCallRow): boolean {
  return row?.kind === "tool" && row.name === call.name;
}

function runKey(first: ToolCallRow): string {
  return `${first.key}.run`;
}

function answersIn(rows: readonly Row[]): Set<string> {
  const answers = new Set<string>();
  let isLastText = true;
  for (const row of rows.toReversed()) {
    if (row.kind === "input") isLastText = true;
    if (row.kind !== "text") continue;
    if (isLastText && row.at !== null) answers.add(row.key);
    isLastText = false;
  }
  return answers;
}
