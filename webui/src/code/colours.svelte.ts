// Highlights code once the highlighter is loaded. Views that use it are then redrawn.

import type { highlightCode } from "./highlighter";

const MAX_LENGTH = 30_000;

class Colours {
  #highlight: typeof highlightCode | null = $state.raw(null);
  #isLoading = false;

  get areLoaded(): boolean {
    return this.#highlight !== null;
  }

  /** Highlighted HTML; null while the highlighter loads, or if the code stays plain. */
  html(code: string, language: string): string | null {
    if (language === "" || code.length > MAX_LENGTH) return null;
    if (this.#highlight === null) {
      void this.#load();
      return null;
    }
    return this.#highlight(code, language);
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      this.#highlight = (await import("./highlighter")).highlightCode;
    } catch {
      // The server can't be reached, which the page reports elsewhere. The next block tries again.
      this.#isLoading = false;
    }
  }
}

export const colours = new Colours();
