// The agents that the page knows by name, all of them in this file.

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

/** Whether the agent's sessions can also be used in people's own terminals. */
export function isAdoptable(agent: string): boolean {
  return ADOPTABLE.has(agent);
}

export function agentTitle(name: string): string {
  return TITLES[name.replace("-", "_")] ?? name;
}

/** Who answers in the session. */
export function agentName({ driver, program }: Session): string {
  return agentTitle(program ?? driver);
}
