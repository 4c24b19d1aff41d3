// What Enter does in a message.

// Screen keyboards have no Shift-Enter: there, Enter starts a new line and the button sends.
const touch = matchMedia("(hover: none) and (pointer: coarse)");

export function hasKeyboard(): boolean {
  return !touch.matches;
}

export function sends(event: KeyboardEvent): boolean {
  if (event.key !== "Enter" || event.isComposing) return false;
  return event.ctrlKey || event.metaKey || (hasKeyboard() && !event.shiftKey);
}
