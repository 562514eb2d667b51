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
