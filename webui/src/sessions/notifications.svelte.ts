// Desktop notifications, if the person switched them on. They are shown when a session begins to need the
// person while all of the page's tabs are hidden.

import { needNews } from "../live.svelte";
import { go } from "../route.svelte";
import type { Session } from "../types";

const STORAGE_KEY = "navi.notifications";
/** The name of a lock that every visible tab holds. */
const VISIBLE = "navi.visible";
const WORDS: Record<string, string> = { waiting: "is waiting for you", failed: "failed", finished: "finished" };

class Notifications {
  /** Browsers offer them only on secure pages: https, or this machine. */
  readonly isPossible = isSecureContext && "Notification" in window;
  isOn = $state(this.isPossible && localStorage.getItem(STORAGE_KEY) === "on" && Notification.permission === "granted");
  problem = $state("");
  #release: (() => void) | null = null;

  constructor() {
    if (!this.isPossible) return;
    needNews.listeners.add((session) => void this.#consider(session));
    document.addEventListener("visibilitychange", () => this.#announce());
    this.#announce();
  }

  async toggle(): Promise<void> {
    this.problem = "";
    const isWanted = !this.isOn;
    if (isWanted && (await Notification.requestPermission()) !== "granted") {
      this.problem = "This browser blocks notifications from this page: allow them in its settings.";
      return;
    }
    this.isOn = isWanted;
    if (isWanted) localStorage.setItem(STORAGE_KEY, "on");
    else localStorage.removeItem(STORAGE_KEY);
  }

  /** Holds the lock while this tab is visible. */
  #announce(): void {
    this.#release?.();
    this.#release = null;
    if (document.hidden) return;
    const untilHidden = new Promise<void>((resolve) => (this.#release = resolve));
    void navigator.locks.request(VISIBLE, { mode: "shared" }, () => untilHidden);
  }

  async #consider(session: Session): Promise<void> {
    if (!this.isOn || !document.hidden) return;
    const { held } = await navigator.locks.query();
    if (!held?.some((lock) => lock.name === VISIBLE)) this.#show(session);
  }

  #show(session: Session): void {
    try {
      // The tag makes the browser show one notification per session, even with several hidden tabs.
      const text = `${session.title} ${WORDS[session.attention ?? ""]}`;
      const notification = new Notification("Navi", { body: text, tag: session.id });
      notification.onclick = () => {
        window.focus();
        go({ view: "session", id: session.id });
        notification.close();
      };
    } catch {
      // Some phones allow them only to installed pages.
      this.problem = "This browser can't show notifications from this page.";
    }
  }
}

export const notifications = new Notifications();
