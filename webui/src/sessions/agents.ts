// The agents that a new session can use.

import { call } from "../api";

export interface Agent {
  driver: string;
  title: string;
  installed: boolean;
  default: boolean;
  models: string[];
  takes_program: boolean;
}

const DEMO = "scripted";

/** The agents that can run on the server's machine; the demo comes last. */
export async function installedAgents(): Promise<Agent[]> {
  return (await call<Agent[]>("GET", "/agents")).filter((agent) => agent.installed);
}

/** Whether no agent has a model: the demo has none, and a terminal is listed even if its program isn't. */
export function hasNoModel(agents: readonly Agent[]): boolean {
  return agents.every((agent) => agent.driver === DEMO || agent.takes_program);
}
