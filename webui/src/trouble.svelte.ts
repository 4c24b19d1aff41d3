// Whether to show that the server can't be reached: only after a short delay.

const PATIENCE_MS = 2_000;

class Trouble {
  isVisible = $state(false);
  #lines = new Set<unknown>();
  #timer = 0;

  begins(line: unknown): void {
    const isFirst = this.#lines.size === 0;
    this.#lines.add(line);
    if (!isFirst) return;
    this.#timer = window.setTimeout(() => (this.isVisible = true), PATIENCE_MS);
  }

  over(line: unknown): void {
    this.#lines.delete(line);
    if (this.#lines.size > 0) return;
    clearTimeout(this.#timer);
    this.isVisible = false;
  }
}

export const trouble = new Trouble();
