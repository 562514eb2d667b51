/**
 * The state of the health panel: how an answer or a failure changes it, and when to ask again.
 * Three failures in a row make the console read-only with the last summary; one answer ends that.
 */
import type { HealthView } from "../../api/generated/models";
import { duration } from "../../parts/times";

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

export type HealthMessage =
  | { key: "starting" }
  | { key: "healthy" }
  | { key: "degraded"; delay: string; limit: string }
  | { key: "cellsDown"; cells: string }
  | { key: "failed"; failures: number; error: string }
  | { key: "readOnly" };

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

/** Returns the sentence for a state. The server decides the mode; the console compares no numbers. */
export function messageOf(state: HealthState): HealthMessage {
  if (isReadOnly(state)) return { key: "readOnly" };
  if (state.phase === "error") return { key: "failed", failures: state.failures, error: state.error };
  if (state.summary === null) return { key: "starting" };
  if (state.summary.cellsDown?.length) return { key: "cellsDown", cells: state.summary.cellsDown.join(", ") };
  if (state.summary.mode === "NORMAL") return { key: "healthy" };
  const { triggerDelayP95Ms, triggerDelayLimitMs } = state.summary;
  return { key: "degraded", delay: duration(triggerDelayP95Ms), limit: duration(triggerDelayLimitMs) };
}
