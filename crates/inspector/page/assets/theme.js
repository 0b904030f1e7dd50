// The theme: light, dark, or the system's. The choice is remembered.

import { announce } from "./element.js";

const KEPT = "turnbuckle.theme";
const THEMES = ["system", "light", "dark"];

export const theme = () => localStorage.getItem(KEPT) ?? "system";

export function applyTheme() {
  const chosen = theme();
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function nextTheme() {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  localStorage.setItem(KEPT, next);
  applyTheme();
  announce(`theme: ${next}`);
  document.querySelector("[data-theme-word]")?.setAttribute("title", `Theme: ${next}`);
}
