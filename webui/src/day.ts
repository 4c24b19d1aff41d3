// Days in words, in the viewer's time zone.

const DAY_MS = 86_400_000;
const NEAR = new Intl.DateTimeFormat(undefined, { weekday: "long", month: "short", day: "numeric" });
const FAR = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });

/** A key that is equal for two times of the same day. */
export function dayKey(at: string): string {
  return new Date(at).toDateString();
}

/** "Today", "Tomorrow", "Yesterday", or the date. */
export function dayWords(at: string, now: number): string {
  const key = dayKey(at);
  if (key === offset(now, 0)) return "Today";
  if (key === offset(now, 1)) return "Tomorrow";
  if (key === offset(now, -1)) return "Yesterday";
  const day = new Date(at);
  return (day.getFullYear() === new Date(now).getFullYear() ? NEAR : FAR).format(day);
}

function offset(now: number, days: number): string {
  const noon = new Date(now).setHours(12, 0, 0, 0);
  return new Date(noon + days * DAY_MS).toDateString();
}
