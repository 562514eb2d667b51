import type { RoundView } from "../../api/generated/models";

/** What differs, what was done about it, and why something that looks like a difference was left as it is. */
export const DIFFERS = ["missing", "drifted", "orphans"] as const;
export const DONE = ["created", "moved", "cancelled"] as const;
export const LEFT = [
  "recent",
  "stale",
  "succeeded",
  "dead",
  "under_way",
  "kept",
  "too_many",
  "refused",
] as const;

export type Count = (typeof DIFFERS)[number] | (typeof DONE)[number] | (typeof LEFT)[number];

export const many = (round: RoundView, name: Count): number => round.counts[name] ?? 0;

/** How many tasks a round has put right. */
export const repaired = (round: RoundView): number => DONE.reduce((sum, name) => sum + many(round, name), 0);

/** How many differences it has found and not put right: all of them, where it was dry. */
export const open = (round: RoundView): number => Math.max(0, round.drift - repaired(round));

const UNFOUND = { DONE: "none", RUNNING: "running", STOPPED: "stopped" } as const;

/** What is said of a round: only one that has compared everything knows that nothing differs. */
export const verdict = (round: RoundView): "found" | (typeof UNFOUND)[RoundView["status"]] =>
  round.drift > 0 ? "found" : UNFOUND[round.status];

/** Whether the round of a number has ended or was stopped, by what is known of the last one. */
export const isOver = (number: number, last: RoundView): boolean =>
  last.number > number || (last.number === number && last.status !== "RUNNING");
