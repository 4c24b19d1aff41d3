// The titles of agents. No other file of the page names agents.

import type { Session } from "../types";

const TITLES: Record<string, string> = {
  builtin: "Navi's own agent",
  claude_code: "Claude Code",
  codex: "Codex",
  navi: "Navi",
  scripted: "Demo",
  tmux: "terminal",
};

/** The agents whose past sessions can be searched, as filters name them. */
export const SOURCES = ["claude-code", "codex", "navi"];

const ADOPTABLE = new Set(["claude_code", "codex"]);

/** Whether people also use the agent in their own terminals, so that Navi can take over its sessions. */
export function isAdoptable(agent: string): boolean {
  return ADOPTABLE.has(agent);
}

export function agentTitle(name: string): string {
  return TITLES[name.replace("-", "_")] ?? name;
}

/** The title of the session's agent. */
export function agentName({ driver, program }: Session): string {
  return agentTitle(program ?? driver);
}
