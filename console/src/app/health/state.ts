/**
 * The state of the health panel: how an answer or a failure changes it, and when to ask again.
 * Three failures in a row make the console read-only with the last summary; one answer ends that.
 */
import type { HealthView } from "../../api/generated/models";

export const MAX_FAILURES = 3;
const BACK_OFF_STEP_MS = 2_000;
const MAX_BACK_OFF_MS = 30_000;

export interface HealthState {
  phase: "loading" | "done" | "error";
  failures: number;
  summary: HealthView | null;
  seenAt: number | null;
  error: string;
}

export const INITIAL_STATE: HealthState = {
  phase: "loading",
  failures: 0,
  summary: null,
  seenAt: null,
  error: "",
};

export function recordAnswer(summary: HealthView, now: number): HealthState {
  return { phase: "done", failures: 0, summary, seenAt: now, error: "" };
}

export function recordFailure(state: HealthState, error: string): HealthState {
  return { ...state, phase: "error", failures: state.failures + 1, error };
}

/** Returns the milliseconds until the next request. */
export function backOffMs(state: HealthState): number {
  return Math.min(MAX_BACK_OFF_MS, BACK_OFF_STEP_MS * (state.failures + 1));
}

export function isReadOnly(state: HealthState): boolean {
  return state.failures >= MAX_FAILURES;
}
