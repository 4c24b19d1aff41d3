// The items that need a person, most important first: questions, failures, automations that were switched
// off, finished work. Ids and order are those of `GET /inbox`. Pure: tests run this file.

import type { Automation, Outcome, Question, Session } from "../types";

export interface Need {
  /** Stays the same for as long as the same thing is waiting. */
  id: string;
  kind: "question" | "budget" | "limit" | "failure" | "disabled" | "finished";
  sessionId: string;
  title: string;
  /** The session's title, unless it is already the item's title. */
  of: string;
  reason: string;
  since: string;
  /** What happens if the person does nothing. */
  then: string;
  question?: Question;
  automation?: Automation;
}

const FAILURES: Partial<Record<Outcome, string>> = {
  denied: "Was denied permission",
  limit: "Reached a usage limit",
  max_iterations: "Used all its steps",
};
const KINDS: Need["kind"][] = ["question", "budget", "limit", "failure", "disabled", "finished"];

/** `questions` are the open ones in their order. */
export function needs(
  sessions: ReadonlyMap<string, Session>,
  questions: readonly Question[],
  automations: Iterable<Automation>,
): Need[] {
  const titleOf = (id: string | null): string => sessions.get(id ?? "")?.title ?? "";
  const others = [
    ...[...sessions.values()].flatMap(needOf),
    ...pauses(sessions.values(), questions),
    ...[...automations].filter(isSwitchedOff).map((each) => switchedOff(each, titleOf(each.session_key))),
  ];
  others.sort((a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.since.localeCompare(b.since));
  return [...questions.map((each) => questionNeed(each, titleOf(each.session_id))), ...others];
}

export function questionNeed(question: Question, of: string): Need {
  const { id, session_id: sessionId, title, created_at: since } = question;
  return { id: `question-${id}`, kind: "question", sessionId, title, of, reason: "", since, then: "", question };
}

function needOf(session: Session): Need[] {
  const { id, title, attention, waiting_for, last_outcome: outcome, updated_at: since } = session;
  const need = (kind: Need["kind"], reason: string, then: string): Need => ({
    id: `${kind}-${id}`, kind, sessionId: id, title, of: "", reason, since, then,
  });
  if (attention === "waiting" && waiting_for === null) {
    return [{ ...need("question", "Asks in its own terminal", "waits until you answer there"), id: `waiting-${id}` }];
  }
  if (attention === "failed") {
    const kind = outcome === "limit" ? "limit" : "failure";
    return [need(kind, FAILURES[outcome ?? "error"] ?? "Failed", "stays as it is")];
  }
  if (attention !== "finished") return [];
  const status = session.agent_status_text;
  return [need("finished", status === null ? "Finished" : `Finished: “${status}”`, "")];
}

/** One item for each used-up budget that sessions wait for, unless a question is open about it. */
function pauses(sessions: Iterable<Session>, questions: readonly Question[]): Need[] {
  const asked = new Set(questions.map((each) => each.call_id.replace(/^budget:(.*):\d+$/, "$1")));
  const paused = [...sessions].filter((each) => each.paused !== null && !asked.has(each.paused.budget));
  paused.sort((a, b) => a.updated_at.localeCompare(b.updated_at));
  const first = new Map(paused.toReversed().map((each) => [each.paused!.budget, each]));
  return [...first.values()].map(({ id, title, paused, updated_at: since }) => ({
    id: `budget-${paused!.budget}`, kind: "budget", sessionId: id, title, of: "", since,
    reason: paused!.reason, then: "waits until the budget is raised",
  }));
}

function isSwitchedOff({ ended, enabled }: Automation): boolean {
  return ended === "failed" && !enabled;
}

function switchedOff(automation: Automation, of: string): Need {
  const [line = ""] = (automation.last_error ?? "").trim().split("\n");
  return {
    id: `disabled-${automation.id}`,
    kind: "disabled",
    sessionId: automation.session_key ?? "",
    title: automation.name,
    of,
    reason: `Switched off after repeated failures${line === "" ? "" : `: ${line}`}`,
    since: automation.last_run_at ?? automation.created_at,
    then: "doesn't run until it is switched on",
    automation,
  };
}

/** The server's list, snoozed items included, and the `since` of each of the page's items when it was requested. */
export interface Listed {
  items: { id: string; reason: string; since: string; then: string | null; snoozed_until: string | null }[];
  asked: ReadonlyMap<string, string>;
}

/** The items that were neither snoozed nor settled, with the server's more precise reasons. Items that have changed
 * since the request are shown, and so is every question that is not snoozed. */
export function asListed(needs: readonly Need[], { items, asked }: Listed, now: () => number): Need[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return needs.flatMap((need) => {
    const item = byId.get(need.id);
    const isSnoozed = item?.snoozed_until != null && Date.parse(item.snoozed_until) > now();
    const isSettled = item === undefined && need.question === undefined && asked.has(need.id);
    if (isSnoozed || isSettled) return [];
    if (item === undefined || need.question !== undefined || asked.get(need.id) !== need.since) return [need];
    const reason = item.reason.charAt(0).toUpperCase() + item.reason.slice(1);
    return [{ ...need, reason, since: item.since, then: item.then ?? "" }];
  });
}
