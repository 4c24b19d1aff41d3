// Shows that the server can't be reached, but only after a short delay.

const DELAY_MS = 2_000;

class Trouble {
  isVisible = $state(false);
  #lines = new Set<unknown>();
  #timer = 0;

  begin(line: unknown): void {
    const isFirst = this.#lines.size === 0;
    this.#lines.add(line);
    if (!isFirst) return;
    this.#timer = window.setTimeout(() => (this.isVisible = true), DELAY_MS);
  }

  end(line: unknown): void {
    this.#lines.delete(line);
    if (this.#lines.size > 0) return;
    clearTimeout(this.#timer);
    this.isVisible = false;
  }
}

export const trouble = new Trouble();
