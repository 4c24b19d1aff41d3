// The outcomes of turns, in words.

import type { Outcome } from "./types";

const LABELS: Record<Outcome, string> = {
  ok: "Done",
  stopped: "Stopped",
  error: "Failed",
  denied: "Refused",
  limit: "Usage limit",
  max_iterations: "Stopped",
};

export interface Ending {
  sentence: string;
  /** The part that is too long or too technical to be shown at once. */
  details: string;
}

/** How a turn ended: "Failed: no model is set up", "Stopped after 25 steps". */
export function ending(outcome: Outcome, error: string | null): Ending {
  const label = LABELS[outcome] ?? outcome;
  const { sentence, details } = splitError(withoutLabel(error ?? ""));
  if (sentence === "") return { sentence: label, details };
  const hasLabel = sentence.toLowerCase().startsWith(label.toLowerCase());
  return { sentence: hasLabel ? capitalise(sentence) : `${label}: ${sentence}`, details };
}

/** Separates the sentence of an error from the traceback around it or the lines below it. */
export function splitError(error: string): Ending {
  const text = error.trim();
  const lines = text.split("\n");
  const traceback = lines.findIndex((line) => line.startsWith("Traceback (most recent call last)"));
  if (traceback < 0) return { sentence: lines[0] ?? "", details: lines.slice(1).join("\n").trim() };
  // A traceback ends with "package.module.Class: message".
  const last = lines.findLast((line) => /^[\w.]+(: |$)/.test(line)) ?? lines.at(-1) ?? "";
  return { sentence: traceback > 0 ? lines[0]! : last.replace(/^[\w.]+: /, ""), details: text };
}

/** The first line of an error, without its label and without advice. */
export function endNote(error: string): string {
  const [firstLine = ""] = withoutLabel(error).split("\n");
  return /^stopped after \d+ steps/.exec(firstLine)?.[0] ?? firstLine;
}

/** Removes "refused: ", because the label in front already says it. */
function withoutLabel(error: string): string {
  return error.trim().replace(/^refused: /, "");
}

function capitalise(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
