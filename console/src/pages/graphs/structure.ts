import type { StepState } from "../../api/generated/models";

/** A step by its name and the steps that it needs. */
export interface LinkedStep {
  name: string;
  needs: string[];
}

/** A step that has a state since an instant. */
export interface TimedStep extends LinkedStep {
  state: StepState;
  changed_at: string;
}

const UNDECIDED: readonly StepState[] = ["WAITING", "BLOCKED"];

/** Returns for each step the steps that need it. */
export function followersOf(steps: readonly LinkedStep[]): Map<string, string[]> {
  const found = new Map<string, string[]>(steps.map((step) => [step.name, []]));
  for (const step of steps) for (const need of step.needs) found.get(need)?.push(step.name);
  return found;
}

/** Returns a step and all steps behind it, in the order of the graph: what a retry runs again. */
export function stepsFrom(name: string, steps: readonly LinkedStep[]): string[] {
  const found = new Set([name]);
  // each step stands behind those that it needs, so one pass is enough
  for (const step of steps) if (step.needs.some((need) => found.has(need))) found.add(step.name);
  return steps.filter((step) => found.has(step.name)).map((step) => step.name);
}

/**
 * Returns the critical path: the chain of steps of which each one waited for the one before it.
 *
 * 1. It ends at the step that holds the run now: the one that has run longest, else the failed step that blocks others,
 *    else the one that ended last.
 * 2. From there it goes back to the need that ended last, until a step needs nothing.
 */
export function criticalPath(steps: readonly TimedStep[]): string[] {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const path: string[] = [];
  let step = lastStep(steps);
  while (step) {
    path.unshift(step.name);
    step = latest(step.needs.flatMap((need) => byName.get(need) ?? []));
  }
  return path;
}

function lastStep(steps: readonly TimedStep[]): TimedStep | undefined {
  const running = steps.filter((step) => step.state === "RELEASED");
  if (running.length > 0)
    return running.reduce((first, step) => (step.changed_at < first.changed_at ? step : first));
  if (steps.some((step) => step.state === "BLOCKED")) return latest(steps.filter(isFailed));
  return latest(steps.filter((step) => !UNDECIDED.includes(step.state)));
}

function latest(steps: readonly TimedStep[]): TimedStep | undefined {
  return steps.reduce<TimedStep | undefined>(
    (last, step) => (last && last.changed_at >= step.changed_at ? last : step),
    undefined,
  );
}

export const isFailed = (step: { state: StepState }): boolean =>
  step.state === "DEAD" || step.state === "CANCELLED";

/** What a person can do with a step of an open run. */
export type StepAction = "retry" | "skip" | "succeed";

/** Returns the actions that have a meaning for the state of a step, as in `horae/domain/graphs/interventions.py`. */
export function actionsOf(state: StepState): StepAction[] {
  if (isFailed({ state })) return ["retry", "skip", "succeed"];
  if (UNDECIDED.includes(state)) return ["skip", "succeed"];
  return state === "RELEASED" ? [] : ["retry"];
}
