import { useSyncExternalStore } from "react";

/** Whether the search is open: shared by its button, its shortcut and its dialog. */
let open = false;
const listeners = new Set<() => void>();

export function setSearchOpen(value: boolean): void {
  open = value;
  for (const notify of listeners) notify();
}

export const useSearchOpen = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
