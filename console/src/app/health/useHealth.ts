import { useSyncExternalStore } from "react";
import { readOnly, type Watch } from "./machine";
import { current, listen } from "./poller";

/** How the scheduler does, and whether this console may change anything now. */
export function useHealth(): Watch & { readOnly: boolean } {
  const watch = useSyncExternalStore(listen, current);
  return { ...watch, readOnly: readOnly(watch) };
}
