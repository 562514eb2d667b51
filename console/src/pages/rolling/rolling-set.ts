/** The settings of a rolling trigger, and the ages in a coverage. */
import type { CoverageView, JobView } from "../../api/generated/models";
import { duration } from "../../parts/times";
import type { Tone } from "../../parts/tones";

export interface RollingSet {
  window: number;
  every: number;
  budget: number | null;
  share: number;
  fresh: number;
}

type RollingTrigger = Extract<JobView["trigger"], { kind: "rolling" }>;

const DAY_S = 86_400;
const MONTH_DAYS = 30;

/** Returns about how many seconds a window has: a month counts as 30 days. */
export function windowSeconds(window: RollingTrigger["window"]): number {
  if (typeof window === "number") return window;
  return ((window.days ?? 0) + (window.months ?? 0) * MONTH_DAYS) * DAY_S;
}

/** Returns the seconds between two ticks; a day for ticks of a cron schedule, which has no fixed length. */
export const tickSeconds = (every: RollingTrigger["every"]): number =>
  typeof every === "number" ? every : DAY_S;

/** Returns the settings of a rolling trigger with their defaults. */
export function rollingSetOf(job: JobView): RollingSet {
  const trigger = job.trigger.kind === "rolling" ? job.trigger : undefined;
  const window = trigger === undefined ? 0 : windowSeconds(trigger.window);
  const every = trigger === undefined ? 0 : tickSeconds(trigger.every);
  return {
    window,
    every,
    budget: trigger?.budget ?? null,
    share: trigger?.share ?? 0.999,
    fresh: trigger?.fresh ?? window + 2 * every,
  };
}

/** Formats a share in per cent, never rounded up. */
export const percent = (share: number): string => `${Math.floor(share * 100_000) / 1_000} %`;

export interface Age {
  name: "under" | "older" | "never";
  length: string;
  subjects: number;
  part: number;
  tone: Tone;
}

/** Returns the ages of the last successes, youngest first; empty if they were not counted. */
export function agesOf(set: RollingSet, coverage: CoverageView): Age[] {
  const bounds = [set.window / 4, set.window / 2, (set.window * 3) / 4, set.window, set.fresh];
  const most = Math.max(1, ...coverage.ages);
  return coverage.ages.map((subjects, index) => {
    const bound = bounds[index];
    return {
      name: bound !== undefined ? "under" : index === bounds.length ? "older" : "never",
      length: duration((bound ?? set.fresh) * 1_000),
      subjects,
      part: subjects / most,
      tone: bound !== undefined ? "good" : index === bounds.length ? "warn" : "idle",
    };
  });
}
