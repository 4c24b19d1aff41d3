// Groups the rows of a conversation for display. Consecutive calls of the same tool share a line, which
// opens to show each of them. The last text of a turn counts as its answer.

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
  /** The keys of tool calls that are shown below the line of their run. */
  nested: Set<string>;
}

const SHORTEST_RUN = 3;

export function listing(rows: readonly Row[], openIds: ReadonlySet<string>): Listing {
  const listed: (Row | ToolRun)[] = [];
  const nested = new Set<string>();
  for (let index = 0; index < rows.length; ) {
    const calls = runAt(rows, index);
    if (calls.length < SHORTEST_RUN) {
      listed.push(rows[index]!);
      index += 1;
      continue;
    }
    const run: ToolRun = { kind: "run", key: runKey(calls[0]!), calls };
    listed.push(run);
    if (openIds.has(run.key)) {
      listed.push(...calls);
      for (const call of calls) nested.add(call.key);
    }
    index += calls.length;
  }
  return { rows: listed, answers: answersIn(rows), nested };
}

/** The key of the run that contains this row, or null; a closed run hides its rows. */
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
  for (let index = first; isSameTool(rows[index], head); index += 1) calls.push(rows[index] as ToolCallRow);
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
