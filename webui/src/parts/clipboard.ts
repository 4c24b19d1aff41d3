// Copies text. Over plain HTTP, browsers give scripts no access to the clipboard, so there is a fallback.

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/** Puts the text into a field, selects it and copies the selection. */
function copySelection(text: string): boolean {
  const before = document.activeElement as HTMLElement | null;
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  // While a dialog is open, nothing outside of it can be selected.
  (before?.closest("dialog") ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand("copy");
  field.remove();
  before?.focus();
  return isCopied;
}
