import { useSyncExternalStore } from "react";
import { currentState, subscribe } from "./poller";
import { type HealthState, isReadOnly } from "./state";

/** The health of the scheduler, and whether the console is read-only. */
export function useHealth(): HealthState & { readOnly: boolean } {
  const state = useSyncExternalStore(subscribe, currentState);
  return { ...state, readOnly: isReadOnly(state) };
}
