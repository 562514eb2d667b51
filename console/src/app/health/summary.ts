/**
 * The health as people see it: a sentence, its tone, the causes and the figures. All of them follow from the causes that
 * the server names, by this one function: a healthy sentence never stands beside a marked figure.
 */
import type { CauseKind, HealthCauseView, HealthView } from "../../api/generated/models";
import { duration } from "../../parts/times";
import type { Tone } from "../../parts/tones";
import { type HealthState, isReadOnly } from "./state";

type FigureName = "delay" | "rate" | "fires" | "retries" | "backlog" | "deadLetters";

export interface HealthFigure {
  name: FigureName;
  text: string;
  ms?: number;
  tone: Tone;
}

export interface CauseMessage {
  key: (typeof CAUSES)[CauseKind]["key"];
  cell: string;
  target: string;
  many: string;
  since: string | null;
  delay: string;
  limit: string;
  rate: string;
}

export type HealthMessage =
  | { key: "starting" }
  | { key: "healthy" }
  | CauseMessage
  | { key: "failed"; failures: number; error: string }
  | { key: "readOnly" };

export interface HealthSummary {
  message: HealthMessage;
  tone: Tone;
  causes: CauseMessage[];
  figures: HealthFigure[];
}

/** The sentence of each cause, how serious it is, and the figure that it marks. */
const CAUSES = {
  CELL_DOWN: { key: "cellsDown", tone: "bad", figure: null },
  SHARDS_UNHELD: { key: "shardsUnheld", tone: "bad", figure: "backlog" },
  TARGET_SILENT: { key: "targetSilent", tone: "warn", figure: null },
  TARGET_FAILING: { key: "targetFailing", tone: "warn", figure: null },
  LATE: { key: "degraded", tone: "bad", figure: "delay" },
  FAILING: { key: "attemptsFail", tone: "bad", figure: "rate" },
  RETRIES: { key: "retries", tone: "bad", figure: "retries" },
  DEAD_LETTERS: { key: "deadLetters", tone: "bad", figure: "deadLetters" },
  BUDGET: { key: "budgetBurns", tone: "warn", figure: null },
} as const satisfies Record<CauseKind, { key: string; tone: Tone; figure: FigureName | null }>;

const FIGURE_NAMES: FigureName[] = ["delay", "rate", "fires", "retries", "backlog", "deadLetters"];

/** Returns what the console shows for a state. */
export function summaryOf(state: HealthState): HealthSummary {
  const { summary } = state;
  const causes = summary?.causes ?? [];
  const messages = summary === null ? [] : causes.map((cause) => causeMessageOf(cause, summary));
  return {
    message: messageOf(state, messages),
    tone: toneOf(state, causes),
    causes: messages,
    figures: figuresOf(summary, causes),
  };
}

function messageOf(state: HealthState, causes: CauseMessage[]): HealthMessage {
  if (isReadOnly(state)) return { key: "readOnly" };
  if (state.phase === "error") return { key: "failed", failures: state.failures, error: state.error };
  if (state.summary === null) return { key: "starting" };
  return causes[0] ?? { key: "healthy" };
}

function toneOf(state: HealthState, causes: HealthCauseView[]): Tone {
  if (isReadOnly(state) || causes.some((cause) => CAUSES[cause.kind].tone === "bad")) return "bad";
  if (state.phase === "error" || causes.length > 0) return "warn";
  return state.summary === null ? "idle" : "good";
}

function causeMessageOf(cause: HealthCauseView, health: HealthView): CauseMessage {
  return {
    key: CAUSES[cause.kind].key,
    cell: cause.cell ?? "",
    target: cause.target ?? "",
    many: number(cause.count ?? 0),
    since: cause.since ?? null,
    delay: duration(health.triggerDelayP95Ms),
    limit: duration(health.triggerDelayLimitMs),
    rate: percent(health.successRate10m),
  };
}

/** Returns the figures in their order; dashes before the first answer. */
function figuresOf(health: HealthView | null, causes: HealthCauseView[]): HealthFigure[] {
  if (health === null) return FIGURE_NAMES.map((name) => ({ name, text: "–", tone: "idle" }));
  const tone = (name: FigureName): Tone =>
    causes.map((cause) => CAUSES[cause.kind]).find((cause) => cause.figure === name)?.tone ?? "idle";
  const texts: Record<FigureName, string> = {
    delay: "",
    rate: percent(health.successRate10m),
    fires: number(health.fires10m),
    retries: number(health.retryBacklog),
    backlog: number(health.backlog),
    deadLetters: number(health.dlqGrowthPerMin),
  };
  return FIGURE_NAMES.map((name) => ({
    name,
    text: texts[name],
    tone: tone(name),
    ...(name === "delay" ? { ms: health.triggerDelayP95Ms } : {}),
  }));
}

const number = (value: number): string => value.toLocaleString("en");

/** Formats a share; 99.99 % is never rounded up to 100 %. */
export function percent(part: number): string {
  return part === 1 ? "100 %" : `${(Math.floor(part * 10_000) / 100).toFixed(2)} %`;
}
