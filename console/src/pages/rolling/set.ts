/** What a rolling trigger says, and what is read off a set's coverage. */
import type { CoverageView, JobView } from "../../api/generated/models";
import { duration } from "../../parts/times";
import type { Tone } from "../../parts/tones";

export interface Set_ {
  window: number;
  every: number;
  budget: number | null;
  share: number;
  fresh: number;
}

/** The trigger of a rolling job, with what the API leaves out where nobody said it. */
export function setOf(job: JobView): Set_ {
  const { window, every, budget, share, fresh } = job.trigger as Partial<Set_>;
  const length = Number(window ?? 0);
  const tick = Number(every ?? 0);
  return {
    window: length,
    every: tick,
    budget: budget ?? null,
    share: Number(share ?? 0.999),
    fresh: Number(fresh ?? length + 2 * tick),
  };
}

/** A share in per cent that never rounds up to what it is not. */
export const percent = (share: number): string => `${Math.floor(share * 100_000) / 1_000} %`;

export interface Age {
  name: "under" | "older" | "never";
  length: string;
  subjects: number;
  part: number;
  tone: Tone;
}

/** How old the last successes are, the youngest first; empty where that was not counted. */
export function agesOf(set: Set_, covered: CoverageView): Age[] {
  const bounds = [set.window / 4, set.window / 2, (set.window * 3) / 4, set.window, set.fresh];
  const most = Math.max(1, ...covered.ages);
  return covered.ages.map((subjects, index) => {
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
