// The agents that new sessions can have.

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

/** Those that can run here; the demo comes last. */
export async function installedAgents(): Promise<Agent[]> {
  return (await call<Agent[]>("GET", "/agents")).filter((agent) => agent.installed);
}

/** Whether nothing can answer: the demo has no model, and a terminal only runs what is in it. */
export function hasNoModel(agents: readonly Agent[]): boolean {
  return agents.every((agent) => agent.driver === DEMO || agent.takes_program);
}
