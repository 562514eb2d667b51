import type { Tone } from "../../parts/tones";

/** The status of a subject, as the API numbers it: never run, running, succeeded, failed. */
export const STATUSES = [0, 1, 2, 3] as const;
export type SubjectStatus = (typeof STATUSES)[number];
export const STATUS_NAMES = ["never", "running", "succeeded", "failed"] as const;
export const FAILED: SubjectStatus = 3;

export const STATUS_TONES: Record<SubjectStatus, Tone> = { 0: "idle", 1: "busy", 2: "good", 3: "bad" };

/** Reads a status of an address or an answer; undefined for anything else. */
export const statusOf = (value: unknown): SubjectStatus | undefined =>
  STATUSES.find((status) => String(status) === String(value));
