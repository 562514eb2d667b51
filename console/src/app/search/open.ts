import { useSyncExternalStore } from "react";

/** Whether the search is open; its button, its key and its dialog share it. */
let open = false;
const listeners = new Set<() => void>();

export function setSearch(wanted: boolean): void {
  open = wanted;
  for (const tell of listeners) tell();
}

export const useSearch = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => open,
  );
