// Times as people say them, in the viewer's own zone.

class Ticking {
  now = $state(Date.now());

  constructor() {
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1_000);
    document.addEventListener("visibilitychange", () => (this.now = Date.now()));
  }
}

/** The present second; whatever reads it is drawn anew each second. */
export const clock = new Ticking();

const UNITS: [number, string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

/** The two largest units: "2 h 15 min". */
export function length(seconds: number): string {
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
  return seconds <= 0.5 ? "now" : `in ${length(seconds)}`;
}

export function age(at: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(at)) / 1_000);
  if (seconds < 60) return "now";
  for (const [unit, name] of UNITS) {
    if (seconds >= unit) return `${Math.floor(seconds / unit)} ${name}`;
  }
  return "now";
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

/** Everything about an instant, for titles. */
export function full(at: string): string {
  return FULL.format(new Date(at));
}

/** Short: the time today, else the day too. */
export function short(at: string, now: number): string {
  const moment = new Date(at);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  return isToday ? CLOCK.format(moment) : `${DAY.format(moment)}, ${CLOCK.format(moment)}`;
}

/** "+02:00": for the server, which reads "tomorrow at 9" in the viewer's zone. */
export function zoneOffset(): string {
  const minutes = -new Date().getTimezoneOffset();
  const pad = (number: number): string => String(number).padStart(2, "0");
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

export function zoneName(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}
