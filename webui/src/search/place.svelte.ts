// The search's query and filters, kept in the address, so that "back" from a transcript leads to the
// results, and a search can be bookmarked.

export interface Terms {
  text: string;
  source: string;
  since: string;
  tool: string;
  project: string;
}

const NOTHING: Terms = { text: "", source: "", since: "", tool: "", project: "" };
const NAMES: Record<keyof Terms, string> = {
  text: "search",
  source: "source",
  since: "since",
  tool: "tool",
  project: "project",
};

class SearchState {
  /** Null while the search is closed. */
  terms: Terms | null = $state.raw(read());

  constructor() {
    addEventListener("hashchange", () => (this.terms = read()));
  }

  open(): void {
    if (this.terms !== null) return;
    history.pushState({ isSearch: true }, "", addressOf(NOTHING));
    this.terms = NOTHING;
  }

  /** Writes the query into the address without adding an entry to the browser's history. */
  keep(terms: Terms): void {
    if (this.terms !== null) history.replaceState(history.state, "", addressOf(terms));
  }

  close(): void {
    if (this.terms === null) return;
    this.terms = null;
    const isStep = (history.state as { isSearch?: boolean } | null)?.isSearch === true;
    if (isStep) history.back();
    else history.replaceState(null, "", addressOf(null));
  }
}

export const searchState = new SearchState();

function read(): Terms | null {
  const values = parameters();
  if (!values.has(NAMES.text)) return null;
  const entries = Object.entries(NAMES).map(([key, name]) => [key, values.get(name) ?? ""]);
  return Object.fromEntries(entries) as Terms;
}

/** The current address with its query replaced by these terms. */
function addressOf(terms: Terms | null): string {
  const values = parameters();
  for (const [key, name] of Object.entries(NAMES) as [keyof Terms, string][]) {
    const value = terms?.[key] ?? "";
    if (terms !== null && (value !== "" || key === "text")) values.set(name, value);
    else values.delete(name);
  }
  const [path = ""] = location.hash.split("?");
  return [path || "#/", values.toString()].filter(Boolean).join("?");
}

function parameters(): URLSearchParams {
  return new URLSearchParams(location.hash.split("?")[1] ?? "");
}
