import type { LevelView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

export interface LevelFigure {
  name: "share" | "late" | "overdue" | "budget" | "burn";
  text: string;
  tone: Tone;
}

/** Returns the figures of a service level. The budget is marked while it burns too fast, as the health says. */
export function levelFiguresOf(level: LevelView): LevelFigure[] {
  const tone: Tone = level.burning.length > 0 ? "warn" : "idle";
  return [
    { name: "share", text: shareText(level.availability ?? null), tone: "idle" },
    { name: "late", text: level.late.toLocaleString("en"), tone: "idle" },
    { name: "overdue", text: level.overdue.toLocaleString("en"), tone: "idle" },
    { name: "budget", text: shareText(level.budget_remaining, 1), tone },
    {
      name: "burn",
      text: (level.burn_rates["1h"] ?? 0).toLocaleString("en", { maximumFractionDigits: 1 }),
      tone,
    },
  ];
}

/** Formats a share, rounded down: what is not complete never reads as 100 %. A dash without a share. */
export function shareText(share: number | null, digits = 3): string {
  if (share === null) return "–";
  const unit = 10 ** digits;
  return `${(Math.floor(Number((share * 100 * unit).toFixed(6))) / unit).toLocaleString("en", { maximumFractionDigits: digits })} %`;
}
