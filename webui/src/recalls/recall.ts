// Describes a recall in words: when it wakes the session, and how its turns ended.

import { endNote } from "../outcome";
import { fullTime, durationWords, untilWords } from "../time.svelte";
import type { Recall } from "../types";

/** For the mark in the list of sessions. */
export function comingWords(recall: Recall, now: number): string {
  if (recall.status === "running") return `Running now${repeatWords(recall)}`;
  if (Date.parse(recall.due_at) <= now) return "Due, waiting to start";
  return `Wakes ${untilWords(recall.trigger_at, now)}: ${fullTime(recall.trigger_at)}`;
}

function repeatWords(recall: Recall): string {
  return recall.interval_seconds ? `, repeats every ${durationWords(recall.interval_seconds)}` : "";
}

export interface History {
  /** Where the recall is now, or how it ended. */
  state: string;
  isFailure: boolean;
  note: string;
}

export function history(recall: Recall): History {
  if (recall.status === "pending") return { state: "pending", isFailure: false, note: lastTime(recall) };
  if (recall.status === "running") return { state: "running now", isFailure: false, note: "" };
  // Only a one-off recall ends by failing: a recurring one continues until it is cancelled.
  if (recall.status === "cancelled" && recall.interval_seconds) {
    return { state: "cancelled", isFailure: false, note: lastTime(recall) };
  }
  return endState(recall);
}

function endState(recall: Recall): History {
  const note = endNote(recall.error ?? "");
  switch (recall.outcome) {
    case "error":
      return { state: "failed", isFailure: true, note: recall.error ?? "" };
    case "denied":
      return { state: "refused", isFailure: false, note };
    case "limit":
      return { state: "hit a usage limit", isFailure: false, note };
    case "stopped":
      return { state: "stopped", isFailure: false, note };
    case "replaced":
      return { state: "replaced by a newer recall", isFailure: false, note: "" };
    case "cancelled":
      return { state: "cancelled", isFailure: false, note };
    default:
      // A recall that used all its steps also counts as done.
      return { state: recall.status === "cancelled" ? "cancelled" : "done", isFailure: false, note };
  }
}

function lastTime(recall: Recall): string {
  if (recall.outcome === null || recall.outcome === "ok" || recall.outcome === "cancelled") return "";
  const { state, note } = endState(recall);
  return note ? `last time: ${state} (${endNote(note)})` : `last time: ${state}`;
}
