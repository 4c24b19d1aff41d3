// Times and durations in words, in the viewer's time zone.

class Ticking {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1_000);
    document.addEventListener("visibilitychange", () => (this.now = Date.now()));
  }
}

/** The current time. Views that read it are redrawn every second. */
export const clock = new Ticking();

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** A duration in its two largest units: "2 h 15 min". */
export function durationWords(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds));
  const parts: string[] = [];
  for (const [unit, name] of UNITS) {
    const number = Math.floor(rest / unit);
    rest -= number * unit;
    if (number > 0) parts.push(`${number} ${name}`);
    else if (parts.length > 0) break;
  }
  return parts.slice(0, 2).join(" ") || "0 s";
}

export function untilWords(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1_000;
  return seconds <= 0.5 ? "now" : `in ${durationWords(seconds)}`;
}

export function age(at: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1_000);
  if (seconds < 60) return "now";
  for (const [unit, name] of UNITS) {
    if (seconds >= unit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  return "now";
}

export function agoWords(at: string, now: number): string {
  const words = age(at, now);
  return words === "now" ? "just now" : `${words} ago`;
}

const FULL = new Intl.DateTimeFormat(undefined, {
  weekday: "short",
  year: "numeric",
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZoneName: "short",
});
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const DAY_OF_YEAR = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** The full date and time, for tooltips. */
export function fullTime(at: string): string {
  return FULL.format(new Date(at));
}

/** The time, with the day unless it is today, and the year unless it is this one. */
export function shortTime(at: string, now: number): string {
  const moment = new Date(at);
  const today = new Date(now);
  if (moment.toDateString() === today.toDateString()) return CLOCK.format(moment);
  const day = moment.getFullYear() === today.getFullYear() ? DAY : DAY_OF_YEAR;
  return `${day.format(moment)}, ${CLOCK.format(moment)}`;
}

/** "limit until 15:00", or an empty text once that has passed. */
export function limitWords(until: string | null, now: number): string {
  return until === null || Date.parse(until) <= now ? "" : `limit until ${shortTime(until, now)}`;
}

/** An instant as text that the server reads in the viewer's zone: "2026-11-17 09:00". */
export function wallClock(at: string): string {
  const moment = new Date(at);
  const pad = (number: number): string => String(number).padStart(2, "0");
  const day = [moment.getFullYear(), pad(moment.getMonth() + 1), pad(moment.getDate())].join("-");
  const time = [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(pad);
  return `${day} ${(moment.getSeconds() === 0 ? time.slice(0, 2) : time).join(":")}`;
}

/** The viewer's IANA zone, for calls in which the server reads times or puts them into words. */
export function zoneName(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  // Browsers that can't determine their zone use UTC.
  return !timeZone || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
