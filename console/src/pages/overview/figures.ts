import type { HealthView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

type FigureName = "delay" | "rate" | "fires" | "retries" | "backlog" | "deadLetters";

export interface HealthFigure {
  name: FigureName;
  text: string;
  ms?: number;
  tone: Tone;
}

/** The thresholds from which a figure is marked. The server sends the threshold of the delay. */
const MIN_SUCCESS_RATE = 0.995;
const MAX_RETRY_BACKLOG = 200_000;
const MAX_DEAD_LETTERS_PER_MIN = 1_000;

const FIGURE_NAMES: FigureName[] = ["delay", "rate", "fires", "retries", "backlog", "deadLetters"];

/** Returns the figures of a health summary in their order; dashes before the first answer. */
export function figuresOf(health: HealthView | null): HealthFigure[] {
  if (health === null) return FIGURE_NAMES.map((name) => ({ name, text: "–", tone: "idle" }));
  const count = (value: number) => value.toLocaleString("en");
  return [
    {
      name: "delay",
      text: "",
      ms: health.triggerDelayP95Ms,
      tone: health.triggerDelayP95Ms > health.triggerDelayLimitMs ? "bad" : "idle",
    },
    {
      name: "rate",
      text: percent(health.successRate10m),
      tone: health.successRate10m < MIN_SUCCESS_RATE ? "bad" : "idle",
    },
    { name: "fires", text: count(health.fires10m), tone: "idle" },
    {
      name: "retries",
      text: count(health.retryBacklog),
      tone: health.retryBacklog > MAX_RETRY_BACKLOG ? "bad" : "idle",
    },
    { name: "backlog", text: count(health.backlog), tone: "idle" },
    {
      name: "deadLetters",
      text: count(health.dlqGrowthPerMin),
      tone:
        health.dlqGrowthPerMin > MAX_DEAD_LETTERS_PER_MIN
          ? "bad"
          : health.dlqGrowthPerMin > 0
            ? "warn"
            : "idle",
    },
  ];
}

/** Formats a share; 99.99 % is never rounded up to 100 %. */
function percent(part: number): string {
  return part === 1 ? "100 %" : `${(Math.floor(part * 10_000) / 100).toFixed(2)} %`;
}
