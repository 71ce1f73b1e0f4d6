/** Dark or light: the person's choice if there is one, else the system's. */
import { useSyncExternalStore } from "react";
import type { Theme } from "../charts/palette";

const KEY = "resolute.theme";
const watchers = new Set<() => void>();

const current = (): Theme => (document.documentElement.dataset["theme"] === "dark" ? "dark" : "light");

export function setTheme(theme: Theme): void {
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset["theme"] = theme;
  for (const watcher of watchers) watcher();
}

export function useTheme(): Theme {
  return useSyncExternalStore((watcher) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }, current);
}
