// Whether Enter sends a message or starts a new line.

// Screen keyboards have no Shift-Enter: there, Enter starts a new line, and only the button sends.
const touch = matchMedia("(hover: none) and (pointer: coarse)");

export function hasKeyboard(): boolean {
  return !touch.matches;
}

export function isSendKey(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.isComposing) return false;
  return event.ctrlKey || event.metaKey || (hasKeyboard() && !event.shiftKey);
}
