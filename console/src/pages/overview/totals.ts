import type { HealthPointView, HealthView } from "../../api/generated/models";

/** Whether a series is older than the health summary: a day has at least the fires of its last ten minutes. */
export const isOutdated = (points: HealthPointView[] | undefined, health: HealthView | null): boolean =>
  points !== undefined && health !== null && totalsOf(points).fires < health.fires10m;

/** Formats each total. */
export const formatTotals = (totals: ReturnType<typeof totalsOf>): Record<keyof typeof totals, string> =>
  Object.fromEntries(
    Object.entries(totals).map(([name, value]) => [name, value.toLocaleString("en")]),
  ) as Record<keyof typeof totals, string>;

/** Returns the totals of a series for the sentences above the charts. */
export function totalsOf(points: HealthPointView[]) {
  const sumOf = (value: (one: HealthPointView) => number) => points.reduce((sum, one) => sum + value(one), 0);
  const maxOf = (value: (one: HealthPointView) => number) => Math.max(0, ...points.map(value));
  return {
    fires: sumOf((one) => one.fires),
    success: sumOf((one) => one.success),
    failed: sumOf((one) => one.failed),
    dead: sumOf((one) => one.dead),
    skipped: sumOf((one) => one.skipped),
    maxDelayMs: maxOf((one) => one.triggerDelayP95Ms),
    maxRetries: maxOf((one) => one.retryBacklog),
  };
}
