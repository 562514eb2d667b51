import type { SourceRoundView } from "../../api/generated/models";

/** The counts of a round: differences, repairs, and reasons why a row was left unchanged. */
export const DIFFERENCES = ["missing", "drifted", "orphans"] as const;
export const REPAIRS = ["created", "moved", "cancelled"] as const;
export const UNCHANGED = [
  "recent",
  "stale",
  "succeeded",
  "dead",
  "under_way",
  "kept",
  "too_many",
  "refused",
] as const;

export type Count = (typeof DIFFERENCES)[number] | (typeof REPAIRS)[number] | (typeof UNCHANGED)[number];

export const countOf = (round: SourceRoundView, name: Count): number => round.counts[name] ?? 0;

/** Returns how many tasks a round repaired. */
export const repairedCount = (round: SourceRoundView): number =>
  REPAIRS.reduce((sum, name) => sum + countOf(round, name), 0);

/** Returns how many differences a round found and did not repair; a dry run repairs none. */
export const openCount = (round: SourceRoundView): number => Math.max(0, round.drift - repairedCount(round));

const EMPTY_VERDICTS = { DONE: "none", RUNNING: "running", STOPPED: "stopped" } as const;

/** Returns the verdict of a round. Only a finished round can say that nothing differs. */
export const verdict = (
  round: SourceRoundView,
): "found" | (typeof EMPTY_VERDICTS)[SourceRoundView["status"]] =>
  round.drift > 0 ? "found" : EMPTY_VERDICTS[round.status];

/** Whether the round with a number has ended or was stopped, judged by the last round. */
export const isOver = (number: number, last: SourceRoundView): boolean =>
  last.number > number || (last.number === number && last.status !== "RUNNING");
