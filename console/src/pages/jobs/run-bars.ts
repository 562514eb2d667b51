import type { InstanceView } from "../../api/generated/models";
import type { State } from "../../parts/tones";

const MIN_HEIGHT_PX = 8;
const MAX_HEIGHT_PX = 40;

/** Returns the height of each bar: its duration relative to the longest, on a logarithmic scale. */
export function barHeights(runs: InstanceView[]): number[] {
  const scale = (run: InstanceView) => Math.log1p(run.duration_ms ?? 0);
  const longest = Math.max(...runs.map(scale), 1);
  return runs.map((run) =>
    Math.round(MIN_HEIGHT_PX + ((MAX_HEIGHT_PX - MIN_HEIGHT_PX) * scale(run)) / longest),
  );
}

/** Counts the runs by state, the most frequent first. */
export function countByState(runs: InstanceView[]): [State, number][] {
  const counts = new Map<State, number>();
  for (const run of runs) counts.set(run.state as State, (counts.get(run.state as State) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}
