// Prepares the memory's figures for charts. Days and hours are in the viewer's time zone.

export interface Activity {
  hour: string;
  source: string;
  messages: number;
  sessions: number;
}

export interface Tokens {
  project: string | null;
  period: string | null;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_creation_tokens: number;
  cost_usd: number | null;
}

export interface Bar {
  /** The first day, as YYYY-MM-DD. */
  day: string;
  values: { name: string; value: number }[];
  total: number;
}

export interface Bars {
  bars: Bar[];
  /** How many days a bar stands for. */
  span: number;
  days: number;
}

export interface Counted {
  name: string;
  value: number;
  note?: string;
}

export interface Suggestion {
  pattern: string;
  rule: string;
  count: number;
  confidence: "high" | "medium" | "review";
  reason: string;
  projects: string[];
  examples: string[];
  /** Rules by which Claude Code still asks about dangerous arguments. */
  guards: string[];
}

export interface Suggestions {
  suggestions: Suggestion[];
  skipped: { pattern: string; count: number; reason: string; examples: string[] }[];
}

const MAX_BARS = 120;
const SPANS = [1, 7, 28, 364];
const DAY_MS = 86_400_000;

/** One bar for each day, or for each week or more if that would be too many bars. Empty bars are included. */
export function byDay(values: readonly { day: string; name: string; value: number }[]): Bars {
  const numbers = values.map(({ day }) => numberOf(day));
  const first = Math.min(...numbers);
  const count = values.length === 0 ? 0 : Math.max(...numbers) - first + 1;
  const span = SPANS.find((days) => count / days <= MAX_BARS) ?? SPANS.at(-1)!;
  const bars: Bar[] = Array.from({ length: Math.ceil(count / span) }, (_, index) => ({
    day: dayOf(first + index * span),
    values: [],
    total: 0,
  }));
  values.forEach(({ name, value }, index) => {
    const bar = bars[Math.floor((numbers[index]! - first) / span)]!;
    const existing = bar.values.find((each) => each.name === name);
    if (existing) existing.value += value;
    else bar.values.push({ name, value });
    bar.total += value;
  });
  return { bars, span, days: count };
}

export function localDay(at: string): string {
  const moment = new Date(at);
  const pad = (number: number): string => String(number).padStart(2, "0");
  return `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
}

/** Messages by weekday (Monday first) and hour. */
export function heat(activity: readonly Activity[]): number[][] {
  const cells = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
  for (const { hour, messages } of activity) {
    const moment = new Date(hour);
    cells[(moment.getDay() + 6) % 7]![moment.getHours()]! += messages;
  }
  return cells;
}

/** Text to paste into Claude Code's settings.json. */
export function fragment(suggestions: readonly Suggestion[]): string {
  const allow = suggestions.map((each) => each.rule);
  const ask = [...new Set(suggestions.flatMap((each) => each.guards))];
  return JSON.stringify({ permissions: ask.length > 0 ? { allow, ask } : { allow } }, null, 2);
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

export function compact(value: number): string {
  return SHORT.format(value);
}

function numberOf(day: string): number {
  return Math.round(Date.parse(`${day}T00:00:00Z`) / DAY_MS);
}

function dayOf(number: number): string {
  return new Date(number * DAY_MS).toISOString().slice(0, 10);
}
