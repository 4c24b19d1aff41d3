// The theme: the system's, or light or dark if this browser's user chose one.

export const THEMES = { system: "System", light: "Light", dark: "Dark" };
export type Theme = keyof typeof THEMES;

const STORAGE_KEY = "navi.theme";

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(STORAGE_KEY);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(STORAGE_KEY);
  else localStorage.setItem(STORAGE_KEY, theme);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = chosenTheme();
}
