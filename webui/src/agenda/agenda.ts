// Upcoming recalls, automations and reminders of all sessions.

import { dayKey, dayWords } from "../day";

export interface AgendaItem {
  at: string;
  kind: "recall" | "automation" | "reminder";
  id: string;
  session_id: string;
  session_title: string;
  title: string;
}

export interface Day {
  key: string;
  title: string;
  items: AgendaItem[];
}

/** Groups the items by day and keeps the server's order. */
export function days(items: readonly AgendaItem[], now: number): Day[] {
  const days: Day[] = [];
  for (const item of items) {
    const key = dayKey(item.at);
    if (days.at(-1)?.key !== key) days.push({ key, title: dayWords(item.at, now), items: [] });
    days.at(-1)!.items.push(item);
  }
  return days;
}
