import type { HealthView, PointView } from "../../api/generated/models";

/** Whether a series is older than the health beside it: a day has no fewer fires than its last ten minutes. */
export const outdated = (points: PointView[] | undefined, health: HealthView | null): boolean =>
  points !== undefined && health !== null && sums(points).fires < health.fires10m;

/** Every number as people read it. */
export const written = (all: ReturnType<typeof sums>): Record<keyof typeof all, string> =>
  Object.fromEntries(
    Object.entries(all).map(([name, value]) => [name, value.toLocaleString("en")]),
  ) as Record<keyof typeof all, string>;

/** What a series comes to, for the sentence above its picture. */
export function sums(points: PointView[]) {
  const all = (value: (one: PointView) => number) => points.reduce((sum, one) => sum + value(one), 0);
  const most = (value: (one: PointView) => number) => Math.max(0, ...points.map(value));
  return {
    fires: all((one) => one.fires),
    success: all((one) => one.success),
    failed: all((one) => one.failed),
    dead: all((one) => one.dead),
    skipped: all((one) => one.skipped),
    worstDelay: most((one) => one.triggerDelayP95Ms),
    mostRetries: most((one) => one.retryBacklog),
  };
}
