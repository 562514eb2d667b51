import type { PointView } from "../../api/generated/models";

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
