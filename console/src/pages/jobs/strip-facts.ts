import type { InstanceView } from "../../api/generated/models";
import type { State } from "../../parts/tones";

const LOW = 8;
const HIGH = 40;

/** How tall each bar is: by its duration beside the longest, on a scale that keeps short ones apart. */
export function heights(runs: InstanceView[]): number[] {
  const scale = (run: InstanceView) => Math.log1p(run.duration_ms ?? 0);
  const most = Math.max(...runs.map(scale), 1);
  return runs.map((run) => Math.round(LOW + ((HIGH - LOW) * scale(run)) / most));
}

/** How many ended how, the most frequent first. */
export function told(runs: InstanceView[]): [State, number][] {
  const counts = new Map<State, number>();
  for (const run of runs) counts.set(run.state as State, (counts.get(run.state as State) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1]);
}
