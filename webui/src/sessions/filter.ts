// Matches sessions with the words in the filter box.

import { agentTitle } from "../session/agent";
import type { Session } from "../types";

/** Whether each of the words occurs in the session's title, folder, agent, state or status. */
export function matches(session: Session, words: string): boolean {
  const terms = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (terms.length === 0) return true;
  const text = textOf(session);
  return terms.every((word) => text.includes(word));
}

function textOf(session: Session): string {
  const { title, name, cwd, driver, program, model, state, attention, task, agent_status_text } = session;
  const marks = [session.pinned && "pinned", session.archived && "archived", session.unread && "unread"];
  return [title, name, cwd, driver, agentTitle(driver), program, model, state, attention, task, agent_status_text, ...marks]
    .filter(Boolean)
    .join("\n")
    .toLowerCase();
}
