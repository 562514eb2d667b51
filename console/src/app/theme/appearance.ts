import { useSyncExternalStore } from "react";
import { readPreference, savePreference } from "../preferences";

/** Light or dark: the setting of the system, unless the user chose one. */
export type ThemeChoice = "system" | "light" | "dark";
export const THEME_CHOICES: ThemeChoice[] = ["system", "light", "dark"];

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
const saved = readPreference("appearance");
let choice: ThemeChoice = saved === "light" || saved === "dark" ? saved : "system";

export function setThemeChoice(chosen: ThemeChoice): void {
  choice = chosen;
  savePreference("appearance", chosen);
  for (const notify of listeners) notify();
}

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, () => choice);

export const useDark = (): boolean => useSyncExternalStore(subscribe, isDark);

function isDark(): boolean {
  return choice === "system" ? system.matches : choice === "dark";
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}
