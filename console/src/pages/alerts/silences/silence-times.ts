/** When silences are in force, and which one covers an alert: as `horae/domain/alerts/silences.py` decides it. */
import type { AlertView, SilenceView } from "../../../api/generated/models";

const MINUTE_MS = 60_000;
export const DURATIONS_MS = {
  m30: 30 * MINUTE_MS,
  h1: 60 * MINUTE_MS,
  h4: 240 * MINUTE_MS,
  d1: 1_440 * MINUTE_MS,
  d7: 10_080 * MINUTE_MS,
} as const;
export type Duration = keyof typeof DURATIONS_MS;
export const DURATIONS = Object.keys(DURATIONS_MS) as Duration[];

export type Phase = "planned" | "active" | "over";

export function phaseOf(silence: Pick<SilenceView, "starts_at" | "ends_at">, now: number): Phase {
  if (now < Date.parse(silence.starts_at)) return "planned";
  return now < Date.parse(silence.ends_at) ? "active" : "over";
}

/** The time of an alert: now, or the server's if the clock of this browser is behind it. */
export const timeOf = (alert: AlertView, now: number): number =>
  Math.max(now, Date.parse(alert.last_seen_at));

/** Returns the end of the longest silence that covers an open alert now; undefined if its messages are sent. */
export function silencedUntil(
  alert: AlertView,
  silences: readonly SilenceView[],
  now: number,
): string | undefined {
  if (alert.resolved_at !== null) return undefined;
  return silences
    .filter((one) => phaseOf(one, timeOf(alert, now)) === "active" && covers(one, alert))
    .map((one) => one.ends_at)
    .sort((a, b) => Date.parse(b) - Date.parse(a))[0];
}

function covers(silence: SilenceView, alert: AlertView): boolean {
  if (silence.kinds.length > 0 && !silence.kinds.includes(alert.kind)) return false;
  const labels = Object.entries(silence.labels);
  if (silence.job === null && silence.owner === null && labels.length === 0) return true;
  if (alert.job === null) return false;
  return (
    (silence.job === null || silence.job === alert.job) &&
    (silence.owner === null || silence.owner === alert.owner) &&
    labels.every(([key, value]) => alert.labels[key] === value)
  );
}
