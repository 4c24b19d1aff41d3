// Calls to the server. A cookie and the page's secret together identify the user.

import { currentLogin, leave } from "./login/login";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hint: string,
    readonly body: unknown,
  ) {
    super(message);
  }
}

/** Makes one call. A user who is no longer logged in is asked to log in again. */
export async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const login = currentLogin();
  try {
    return await exchange<T>(method, path, body);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) leave(login);
    throw error;
  }
}

export async function exchange<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = new Headers({ "Content-Type": "application/json" });
  const login = currentLogin();
  if (login !== null) headers.set("Navi-Page", login.secret);
  const response = await fetch(path, {
    method,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await response.text();
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ApiError(response.status, "no_json", "the server's response can't be read", "try again", text);
  }
  if (!response.ok) {
    const error = (value as { error?: { kind: string; message: string; hint: string } }).error;
    throw new ApiError(
      response.status,
      error?.kind ?? "http_error",
      error?.message ?? `the server answered ${response.status}`,
      error?.hint ?? "",
      value,
    );
  }
  return value as T;
}

const HTTP_CALL = /\b(GET|POST|PATCH|DELETE) \//;
/** Hints in terms of the page, for errors whose hint from the server names an HTTP call. */
const PAGE_HINTS: Record<string, string> = {
  session_not_found: "choose another one from the list, or search for it",
  session_stopped: "start a new session",
  session_busy: "stop the turn, then try again",
};

/** The page's labels for fields that the server names in errors. */
const LABELS: [RegExp, string][] = [
  [/\b(every|interval)_seconds\b/g, "the interval"],
  [/\bcron_expr\b/g, "the cron expression"],
  [/\badditional_context_message\b/g, "the instruction"],
];

/** An error as text for people, with the next step. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) {
    const hint = PAGE_HINTS[error.kind] ?? (HTTP_CALL.test(error.hint) ? "" : error.hint);
    const text = hint ? `${error.message}: ${hint}` : error.message;
    return LABELS.reduce((result, [field, label]) => result.replace(field, label), text);
  }
  if (error instanceof TypeError) return "the server is not responding";
  return error instanceof Error ? error.message : String(error);
}

export function query(values: Record<string, string | number | undefined>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return new URLSearchParams(present.map(([name, value]) => [name, String(value)])).toString();
}

/** A new id for an input. Retries use the same id, so that the input is stored once. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
