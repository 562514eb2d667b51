import type { PacedReplayView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

export const isUnderWay = (replay: { status: string }): boolean =>
  replay.status === "CANARY" || replay.status === "RUNNING";

export const PARTS = ["succeeded", "failed", "returned", "refused", "outstanding"] as const;
export type Part = (typeof PARTS)[number];

export const TONES: Record<Part, Tone> = {
  succeeded: "good",
  failed: "bad",
  returned: "warn",
  refused: "warn",
  outstanding: "busy",
};

/** The parts of the bar of a replay, each with its share of the whole. A replay that has completed fills the bar. */
export function partsOf(replay: PacedReplayView): { part: Part; count: number; share: number }[] {
  const count = PARTS.reduce((sum, part) => sum + replay[part], 0);
  const whole = replay.status === "COMPLETED" ? count : Math.max(replay.limit, count);
  return PARTS.filter((part) => replay[part] > 0).map((part) => ({
    part,
    count: replay[part],
    share: replay[part] / whole,
  }));
}

/** The seconds that the rest takes at this pace; null while a canary runs, or after the end. */
export function secondsLeft(replay: PacedReplayView): number | null {
  if (replay.status !== "RUNNING") return null;
  return Math.max(0, replay.limit - replay.sent - replay.refused) / replay.pace;
}
