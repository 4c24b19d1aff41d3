// The current view, kept in the address, so that reloads, bookmarks and "back" work.

export type Route =
  | { view: "home" }
  | { view: "session"; id: string }
  | { view: "archive"; id: string; message: string | null }
  | { view: "inbox" }
  | { view: "agenda" }
  | { view: "analytics" };

function read(): Route {
  const [path = "", query = ""] = location.hash.slice(1).split("?");
  const [, view, id] = path.split("/").map(decodeURIComponent);
  if (view === "sessions" && id) return { view: "session", id };
  if (view === "archive" && id) {
    return { view: "archive", id, message: new URLSearchParams(query).get("message") };
  }
  return view === "inbox" || view === "agenda" || view === "analytics" ? { view } : { view: "home" };
}

class Router {
  now: Route = $state.raw(read());

  constructor() {
    addEventListener("hashchange", () => (this.now = read()));
  }
}

export const router = new Router();

export function address(route: Route): string {
  switch (route.view) {
    case "session":
      return `#/sessions/${route.id}`;
    case "archive":
      return `#/archive/${route.id}${route.message ? `?message=${route.message}` : ""}`;
    case "inbox":
    case "agenda":
    case "analytics":
      return `#/${route.view}`;
    default:
      return "#/";
  }
}

export function go(route: Route): void {
  location.hash = address(route);
}
