// Code in colours, once the highlighter is loaded; what reads them is then drawn again.

import type { coloured } from "./highlighter";

const LONGEST = 30_000;

class Colours {
  #coloured: typeof coloured | null = $state.raw(null);
  #isLoading = false;

  get areLoaded(): boolean {
    return this.#coloured !== null;
  }

  /** Null as long as the code has no colours: load, or leave it plain. */
  html(code: string, language: string): string | null {
    if (language === "" || code.length > LONGEST) return null;
    if (this.#coloured === null) {
      void this.#load();
      return null;
    }
    return this.#coloured(code, language);
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      this.#coloured = (await import("./highlighter")).coloured;
    } catch {
      // The server can't be reached, which the page says elsewhere: the next block tries again.
      this.#isLoading = false;
    }
  }
}

export const colours = new Colours();
