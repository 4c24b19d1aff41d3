// Light or dark: as the system says, or as this browser's user chose.

export const THEMES = { system: "System", light: "Light", dark: "Dark" };
export type Theme = keyof typeof THEMES;

const PLACE = "navi.theme";

export function chosenTheme(): Theme {
  const kept = localStorage.getItem(PLACE);
  return kept === "light" || kept === "dark" ? kept : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(PLACE);
  else localStorage.setItem(PLACE, theme);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = chosenTheme();
}
