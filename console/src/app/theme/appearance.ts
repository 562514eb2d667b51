import { useSyncExternalStore } from "react";
import { recall, remember } from "../remember";

/** Light or dark: as the system has it, unless the person chose. */
export type Choice = "system" | "light" | "dark";
export const CHOICES: Choice[] = ["system", "light", "dark"];

const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
const kept = recall("appearance");
let choice: Choice = kept === "light" || kept === "dark" ? kept : "system";

export function choose(chosen: Choice): void {
  choice = chosen;
  remember("appearance", chosen);
  for (const tell of listeners) tell();
}

export const useChoice = (): Choice => useSyncExternalStore(listen, () => choice);

export const useDark = (): boolean => useSyncExternalStore(listen, dark);

function dark(): boolean {
  return choice === "system" ? system.matches : choice === "dark";
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}
