/**
 * The health panel on paper: what it knows, what an answer or a failure makes of it, when to ask again.
 * Three failures in a row make the console read-only with the last summary; one answer brings it back.
 */
import type { HealthView } from "../../api/generated/models";
import { duration } from "../../parts/times";

export const LIMIT = 3;
const STEP_MS = 2_000;
const LONGEST_MS = 30_000;

export interface Watch {
  phase: "loading" | "done" | "error";
  failures: number;
  summary: HealthView | null;
  seenAt: number | null;
  error: string;
}

export type Sentence =
  | { key: "starting" }
  | { key: "healthy" }
  | { key: "degraded"; delay: string; limit: string }
  | { key: "cellsDown"; cells: string }
  | { key: "failed"; failures: number; error: string }
  | { key: "readOnly" };

export const FIRST: Watch = { phase: "loading", failures: 0, summary: null, seenAt: null, error: "" };

export function answered(_: Watch, summary: HealthView, now: number): Watch {
  return { phase: "done", failures: 0, summary, seenAt: now, error: "" };
}

export function failed(watch: Watch, error: string): Watch {
  return { ...watch, phase: "error", failures: watch.failures + 1, error };
}

/** How long to wait before asking again. */
export function backOff(watch: Watch): number {
  return Math.min(LONGEST_MS, STEP_MS * (watch.failures + 1));
}

export function readOnly(watch: Watch): boolean {
  return watch.failures >= LIMIT;
}

/** The one sentence that says how it stands. It follows the mode that the server decided, not a number of ours. */
export function sentence(watch: Watch): Sentence {
  if (readOnly(watch)) return { key: "readOnly" };
  if (watch.phase === "error") return { key: "failed", failures: watch.failures, error: watch.error };
  if (watch.summary === null) return { key: "starting" };
  if (watch.summary.cellsDown?.length) return { key: "cellsDown", cells: watch.summary.cellsDown.join(", ") };
  if (watch.summary.mode === "NORMAL") return { key: "healthy" };
  const { triggerDelayP95Ms, triggerDelayLimitMs } = watch.summary;
  return { key: "degraded", delay: duration(triggerDelayP95Ms), limit: duration(triggerDelayLimitMs) };
}
