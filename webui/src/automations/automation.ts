// Describes an automation in words: its state, and when it runs next.

import { shortTime, untilWords } from "../time.svelte";
import type { Automation, Schedule } from "../types";

const ACTIVE = { queued: "queued", running: "running now" };
const ENDED = {
  done: "done",
  expired: "expired",
  failed: "switched off after repeated failures",
  session_ended: "ended with its session",
};
const PREVIEW_COUNT = 5;

export function stateWords(automation: Automation, now: number): string {
  const active = automation.active_run_state ? ACTIVE[automation.active_run_state] : "";
  const coming = comingWords(automation, now);
  return [active, coming].filter((part) => part !== "").join(" · ") || "no more runs";
}

function comingWords(automation: Automation, now: number): string {
  if (automation.ended !== null) return ENDED[automation.ended] ?? automation.ended;
  if (!automation.enabled) return "paused";
  return automation.next_run_at === null ? "" : `next ${untilWords(automation.next_run_at, now)}`;
}

/** In the viewer's zone, unlike the server's own words for an instant. */
export function scheduleWords(schedule: Schedule, serverWords: string, now: number): string {
  return schedule.at === null ? serverWords : `once, ${shortTime(schedule.at, now)}`;
}

/** The next runs of an unchanged schedule; null if only the server can compute them. */
export function runsAsPlanned(automation: Automation): string[] | null {
  const { next_run_at: next, schedule } = automation;
  if (schedule.kind === "cron") return null;
  if (next === null) return [];
  if (schedule.every_seconds === null) return [next];
  const interval = schedule.every_seconds * 1_000;
  return Array.from({ length: PREVIEW_COUNT }, (_, index) => new Date(Date.parse(next) + index * interval).toISOString());
}

/** The days on which a schedule can run at a time of day, as cron writes them. */
export const DAYS = [
  ["1-5", "weekdays"],
  ["*", "every day"],
  ["1", "Mondays"],
  ["2", "Tuesdays"],
  ["3", "Wednesdays"],
  ["4", "Thursdays"],
  ["5", "Fridays"],
  ["6", "Saturdays"],
  ["0", "Sundays"],
] as const;

export interface Daily {
  days: string;
  /** As time fields have it: 09:00. */
  time: string;
}

/** The days and the time of a cron expression; null if it is more complex. */
export function dailyOf(cron: string): Daily | null {
  const [minute, hour, date, month, days, ...more] = cron.trim().split(/ +/);
  const isTime = /^\d{1,2}$/.test(minute ?? "") && /^\d{1,2}$/.test(hour ?? "");
  if (!isTime || date !== "*" || month !== "*" || !DAYS.some(([each]) => each === days) || more.length > 0) return null;
  return { days: days!, time: `${hour!.padStart(2, "0")}:${minute!.padStart(2, "0")}` };
}

export function cronOf({ days, time }: Daily): string {
  const [hour, minute] = time.split(":").map(Number);
  return `${minute} ${hour} * * ${days}`;
}

/** A one-off automation that has run: it needs a new time to run again. */
export function isDone(automation: Automation): boolean {
  return automation.ended === "done" && automation.schedule.kind === "at";
}

export function canPause(automation: Automation): boolean {
  return automation.ended === null && (!automation.enabled || automation.next_run_at !== null);
}
