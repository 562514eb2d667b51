import type { HealthView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

type Name = "delay" | "rate" | "fires" | "retries" | "backlog" | "letters";

export interface Figure {
  name: Name;
  text: string;
  ms?: number;
  tone: Tone;
}

/** From where on a number asks for attention; of the delay the server says it. */
const FEW = 0.995;
const MANY_RETRIES = 200_000;
const MANY_LETTERS = 1_000;

const NAMES: Name[] = ["delay", "rate", "fires", "retries", "backlog", "letters"];

/** The numbers of a summary, in their order; dashes before the first one came. */
export function figures(told: HealthView | null): Figure[] {
  if (told === null) return NAMES.map((name) => ({ name, text: "–", tone: "idle" }));
  const count = (value: number) => value.toLocaleString("en");
  return [
    {
      name: "delay",
      text: "",
      ms: told.triggerDelayP95Ms,
      tone: told.triggerDelayP95Ms > told.triggerDelayLimitMs ? "bad" : "idle",
    },
    { name: "rate", text: percent(told.successRate10m), tone: told.successRate10m < FEW ? "bad" : "idle" },
    { name: "fires", text: count(told.fires10m), tone: "idle" },
    {
      name: "retries",
      text: count(told.retryBacklog),
      tone: told.retryBacklog > MANY_RETRIES ? "bad" : "idle",
    },
    { name: "backlog", text: count(told.backlog), tone: "idle" },
    {
      name: "letters",
      text: count(told.dlqGrowthPerMin),
      tone: told.dlqGrowthPerMin > MANY_LETTERS ? "bad" : told.dlqGrowthPerMin > 0 ? "warn" : "idle",
    },
  ];
}

/** Never rounded up to a whole: 99.99 % is not 100 %. */
function percent(part: number): string {
  return part === 1 ? "100 %" : `${(Math.floor(part * 10_000) / 100).toFixed(2)} %`;
}
