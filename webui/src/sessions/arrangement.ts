// The order of the list: sessions that need a person, pinned sessions, then the rest, newest activity first.

import { dayKey, dayWords } from "../day";
import { needsPerson, type Standing } from "../sessions";
import type { Session } from "../types";

export type Grouping = "none" | "day" | "folder";

export interface ListEntry {
  session: Session;
  depth: number;
  /** How many sessions are below it, listed or not. */
  descendants: number;
  isFolded: boolean;
}

export interface Group {
  key: string;
  title: string;
  /** The full text of a shortened title. */
  hint: string;
  entries: ListEntry[];
}

export interface Options {
  grouping: Grouping;
  /** The sessions whose children are not listed. */
  folded: ReadonlySet<string>;
  /** The properties that decide where a session is listed. */
  standing: (session: Session) => Standing;
  now: number;
}

/** Children are under their parent, except those that need a person, are pinned or archived. */
export function arrange(sessions: Iterable<Session>, options: Options): Group[] {
  const tree = new Tree(sessions, options.standing);
  const rank = (session: Session): number => rankOf(options.standing(session));
  const groups = new Map<string, Group>();
  for (const root of [...tree.below(null)].sort((a, b) => rank(a) - rank(b))) {
    const heading = headingOf(root, tree.latest(root), options);
    const group = groups.get(heading.key) ?? { ...heading, entries: [] };
    groups.set(heading.key, group);
    addEntries(tree, root, 0, options.folded, group.entries);
  }
  return [...groups.values()];
}

const PINNED = 3;
const OTHER = 4;
const ARCHIVED = 5;

function rankOf({ attention, pinned, archived }: Standing): number {
  if (needsPerson({ attention })) return ["waiting", "failed", "finished"].indexOf(attention ?? "");
  if (archived) return ARCHIVED;
  return pinned ? PINNED : OTHER;
}

function headingOf(root: Session, latest: string, options: Options): Omit<Group, "entries"> {
  const rank = rankOf(options.standing(root));
  if (rank < PINNED) return { key: "needs", title: "Needs you", hint: "" };
  if (rank === PINNED) return { key: "pinned", title: "Pinned", hint: "" };
  if (rank === ARCHIVED) return { key: "archived", title: "Archived", hint: "" };
  switch (options.grouping) {
    case "day":
      return { key: dayKey(latest), title: dayWords(latest, options.now), hint: "" };
    case "folder":
      return { key: root.cwd, title: root.cwd.split("/").filter(Boolean).at(-1) ?? root.cwd, hint: root.cwd };
    default:
      return { key: "others", title: "Others", hint: "" };
  }
}

/** Adds the session and its descendants; returns how many sessions that is. */
function addEntries(tree: Tree, session: Session, depth: number, folded: ReadonlySet<string>, entries: ListEntry[]): number {
  const entry = { session, depth, descendants: 0, isFolded: folded.has(session.id) };
  entries.push(entry);
  const below = entry.isFolded ? [] : entries;
  for (const child of tree.below(session.id)) {
    entry.descendants += addEntries(tree, child, depth + 1, folded, below);
  }
  return entry.descendants + 1;
}

class Tree {
  #children = new Map<string | null, Session[]>();
  #latest = new Map<string, string>();

  constructor(sessions: Iterable<Session>, standing: (session: Session) => Standing) {
    const all = new Map([...sessions].map((session) => [session.id, session]));
    for (const session of all.values()) {
      const parent = all.get(session.parent_id ?? "");
      const isAlone = rankOf(standing(session)) !== OTHER || parent === undefined || parent.archived;
      const key = isAlone ? null : parent.id;
      const siblings = this.#children.get(key);
      if (siblings === undefined) this.#children.set(key, [session]);
      else siblings.push(session);
    }
    for (const siblings of this.#children.values()) {
      siblings.sort((a, b) => this.latest(b).localeCompare(this.latest(a)) || a.id.localeCompare(b.id));
    }
  }

  below(id: string | null): readonly Session[] {
    return this.#children.get(id) ?? [];
  }

  /** The newest activity of the session and its descendants. */
  latest(session: Session): string {
    const existing = this.#latest.get(session.id);
    if (existing !== undefined) return existing;
    let newest = session.updated_at;
    // Set before visiting children, so that a cycle of parents ends.
    this.#latest.set(session.id, newest);
    for (const child of this.below(session.id)) {
      const latest = this.latest(child);
      if (latest > newest) newest = latest;
    }
    this.#latest.set(session.id, newest);
    return newest;
  }
}
