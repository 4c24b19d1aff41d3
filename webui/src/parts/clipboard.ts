// Copying, also where the page came over plain HTTP: browsers then offer no clipboard to scripts.

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

/** What people do by hand: select the text and copy it. */
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
