// Puts agents' questions and their answers into words, and places them in a conversation. Pure: tests run
// this file.

import type { Row } from "../rows";
import type { Decision, Json, Question } from "../types";

export type Questions = ReadonlyMap<string, Question>;

/** Adds questions. A closed one stays closed, whichever event arrives first. */
export function merge(questions: Questions, news: Iterable<Question>): Questions {
  const all = new Map(questions);
  for (const question of news) {
    const isStale = question.state === "open" && (all.get(question.id)?.state ?? "open") !== "open";
    if (!isStale) all.set(question.id, question);
  }
  return all;
}

/** The open questions: those that expire first come first, then the oldest. */
export function openQuestions(questions: Questions): Question[] {
  const deadline = (question: Question): string => question.deadline_at ?? "9999";
  return [...questions.values()]
    .filter((question) => question.state === "open")
    .sort((a, b) => deadline(a).localeCompare(deadline(b)) || a.created_at.localeCompare(b.created_at));
}

export interface Closing {
  /** "Allowed by you, on the page". */
  words: string;
  /** What the person wrote or chose. */
  text: string;
}

const DECIDED: Record<Decision, string> = {
  allow: "Allowed",
  allow_always: "Always allowed",
  deny: "Denied",
  choose: "Answered",
  reply: "Answered",
};
const VIA_WORDS: Record<string, string> = {
  sm: "with sm",
  page: "on the page",
  terminal: "in the terminal",
  notification: "from a notification",
  api: "over the API",
};

/** Says how a question was closed, and by whom. */
export function closing(question: Question, me: string | null): Closing {
  const { state, answer, kind } = question;
  const isAsked = kind === "choice" || kind === "text";
  if (state === "withdrawn") return { words: "Withdrawn: the answer is no longer needed", text: "" };
  if (state === "expired") return { words: isAsked ? "Nobody answered in time" : "Denied: nobody answered in time", text: "" };
  if (state === "open" || answer === null) return { words: "Waiting for an answer", text: "" };
  let verb = DECIDED[answer.decision];
  if (kind === "plan") verb = answer.decision === "deny" ? "Rejected" : "Approved";
  if (isAsked && answer.decision === "deny") verb = "Declined";
  if (answer.updated_input !== null) verb = "Allowed with changes";
  const who = question.answered_by === null ? "" : ` by ${question.answered_by === me ? "you" : question.answered_by}`;
  const via = question.answered_via ?? "";
  const where = via === "" ? "" : `, ${VIA_WORDS[via] ?? `from ${via}`}`;
  return { words: verb + who + where, text: [...answer.choices, answer.text ?? ""].filter(Boolean).join(", ") };
}

/** What happens if nobody answers. */
export function withoutAnswer({ kind, deadline_at }: Question): string {
  if (deadline_at === null) return "Waits until somebody answers";
  if (kind === "choice" || kind === "text") return "The agent continues without an answer";
  return kind === "plan" ? "Rejected" : "Denied";
}

/** The rules that "always allow" would write. */
export function rules({ suggestions }: Question): string[] {
  const written = suggestions.filter((each) => Array.isArray(each["rules"]));
  return (written.length > 0 ? written : suggestions).flatMap(ruleWords);
}

function ruleWords(suggestion: Json): string[] {
  const { rules, mode, directories } = suggestion;
  if (Array.isArray(rules)) return (rules as Json[]).map(({ toolName, ruleContent }) => (ruleContent ? `${toolName}(${ruleContent})` : String(toolName)));
  if (typeof mode === "string") return [`mode ${mode}`];
  if (Array.isArray(directories)) return directories.map((each) => `directory ${each}`);
  const [only, ...others] = Object.values(suggestion);
  if (others.length === 0 && typeof only === "string") return [only];
  if (others.length === 0 && Array.isArray(only)) return [only.join(" ")];
  return [JSON.stringify(suggestion)];
}

export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** A part of a tool's input, as shown to people. */
export type InputPart =
  | { kind: "command"; label: string; text: string }
  | { kind: "text"; label: string; text: string }
  | { kind: "diff"; label: string; lines: DiffLine[] };

const PATHS = ["file_path", "notebook_path", "path"];
const PATCH = /^(\*\*\* Begin Patch|diff --git |--- |@@ )/m;

/** The input of a tool call: its command, its changes as a diff, and everything else by name. */
export function inputParts(input: Json | null): InputPart[] {
  const rest = new Map(Object.entries(input ?? {}));
  const take = (name: string): unknown => {
    const value = rest.get(name);
    rest.delete(name);
    return value;
  };
  const parts: InputPart[] = [];
  const command = rest.get("command");
  if (typeof command === "string" || isStringList(command)) {
    take("command");
    parts.push({ kind: "command", label: "Command", text: typeof command === "string" ? command : command.join(" ") });
  }
  const pathField = PATHS.find((name) => typeof rest.get(name) === "string");
  const path = pathField === undefined ? "" : String(rest.get(pathField));
  const edits = rest.get("edits");
  const changes = isEdit(input) ? [input as Edit] : Array.isArray(edits) && edits.every(isEdit) ? (edits as Edit[]) : [];
  if (changes.length > 0) {
    for (const name of ["old_string", "new_string", "edits", pathField ?? ""]) take(name);
    parts.push(...changes.map((edit) => ({ kind: "diff" as const, label: path, lines: diffLines(edit.old_string, edit.new_string) })));
  } else if (pathField !== undefined && typeof rest.get("content") === "string") {
    take(pathField);
    parts.push({ kind: "diff", label: path, lines: diffLines("", String(take("content"))) });
  }
  for (const [name, value] of rest) {
    if (value === null || value === undefined) continue;
    if (typeof value === "string" && PATCH.test(value)) parts.push({ kind: "diff", label: name, lines: patchLines(value) });
    else parts.push({ kind: "text", label: name, text: typeof value === "string" ? value : JSON.stringify(value, null, 2) });
  }
  return parts;
}

interface Edit {
  old_string: string;
  new_string: string;
}

function isEdit(value: unknown): value is Edit {
  const edit = value as Partial<Edit> | null;
  return typeof edit?.old_string === "string" && typeof edit.new_string === "string";
}

function isStringList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string");
}

/** A simple diff: the changed lines, and the equal lines before and after them. */
function diffLines(before: string, after: string): DiffLine[] {
  const [old, changed] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, changed.length);
  let head = 0;
  while (head < shorter && old[head] === changed[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === changed.at(-1 - tail)) tail += 1;
  const signed = (sign: DiffLine["sign"], lines: string[]): DiffLine[] => lines.map((text) => ({ sign, text }));
  return [
    ...signed(" ", old.slice(0, head)),
    ...signed("-", old.slice(head, old.length - tail)),
    ...signed("+", changed.slice(head, changed.length - tail)),
    ...signed(" ", old.slice(old.length - tail)),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}

function patchLines(patch: string): DiffLine[] {
  return linesOf(patch).map((line) => {
    const isChange = /^[+-]/.test(line) && !/^(\+\+\+|---) /.test(line);
    return isChange ? { sign: line[0] as "+" | "-", text: line.slice(1) } : { sign: " ", text: line };
  });
}

const ANSWER = /^\[answer to "([^\n]*)"\]\n/;

/** Splits the text of an input that carries an answer into the question and the answer. */
export function answerParts(text: string): { title: string; answer: string } {
  const beginning = ANSWER.exec(text);
  return beginning === null
    ? { title: "", answer: text }
    : { title: beginning[1]!, answer: text.slice(beginning[0].length) };
}

/** Adds the session's closed questions to the rows of its conversation, and marks the calls that wait for
 * an open one. */
export function withQuestions(rows: readonly Row[], questions: readonly Question[]): readonly Row[] {
  if (questions.length === 0) return rows;
  const byCall = new Map(questions.map((question) => [question.call_id, question]));
  const answered = new Set(rows.map((row) => (row.kind === "input" ? row.metadata["question_id"] : undefined)));
  const calls = new Set(rows.map((row) => (row.kind === "tool" ? row.callId : undefined)));
  // Insert questions that have no row by the time they were closed, unless that part is not loaded.
  const alone = questions
    .filter(({ id, state, call_id }) => state !== "open" && !answered.has(id) && !calls.has(call_id))
    .sort((a, b) => closedAt(a).localeCompare(closedAt(b)));
  const placed: Row[] = [];
  let hasTime = false;
  for (const row of rows) {
    const at = "at" in row ? row.at : null;
    if (at !== null) {
      while (alone[0] !== undefined && closedAt(alone[0]) < at) {
        const question = alone.shift()!;
        if (hasTime) placed.push(rowOf(question));
      }
      hasTime = true;
    }
    const question = row.kind === "tool" && row.callId ? byCall.get(row.callId) : undefined;
    if (question === undefined || answered.has(question.id)) placed.push(row);
    else if (question.state === "open") placed.push({ ...row, isAsking: true } as Row);
    else placed.push(rowOf(question), row);
  }
  return [...placed, ...alone.map(rowOf)];
}

function rowOf(question: Question): Row {
  return { kind: "question", key: `question.${question.id}`, question };
}

function closedAt({ answered_at, created_at }: Question): string {
  return answered_at ?? created_at;
}
