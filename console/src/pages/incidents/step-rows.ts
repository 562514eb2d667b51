/** The timeline of an incident as rows: one for each step, with what its parts add up to. */
import type { IncidentDetailView, IncidentEntryView, RecoveryStep } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** The steps in their order; the last one of the API, `ENDED`, is no work. */
export const STEPS = [
  "FREEZE",
  "REACH_CELLS",
  "HOLD_SHARDS",
  "FIRE_CRITICAL",
  "CATCH_UP",
  "REPLAY_EVENTS",
  "REQUEUE",
  "AUDIT",
  "LIFT",
] as const satisfies RecoveryStep[];

export type StepStatus = "done" | "givenUp" | "stopped" | "current" | "next" | "omitted";

export const STATUS_TONES: Record<StepStatus, Tone> = {
  done: "good",
  givenUp: "warn",
  stopped: "idle",
  current: "busy",
  next: "idle",
  omitted: "idle",
};

/** A step: how far it is, when it ended, and its facts. `missing` says why it was given up. */
export interface StepRow {
  step: (typeof STEPS)[number];
  status: StepStatus;
  endedAt: string | null;
  facts: [name: string, value: unknown][];
  missing: string | null;
}

/** Facts that have a place of their own on the page. */
const SEPARATE_FACTS = new Set(["missing", "stopped", "named"]);

export function stepRowsOf(incident: IncidentDetailView): StepRow[] {
  return STEPS.map((step) => {
    const entries = incident.timeline.filter((entry) => entry.step === step);
    const end = entries.find((entry) => entry.part === "");
    const facts = { ...totalsOf(entries.filter((entry) => entry.part !== "")), ...end?.facts };
    return {
      step,
      status: end ? endStatusOf(end) : openStatusOf(step, incident),
      endedAt: end?.at ?? null,
      facts: Object.entries(facts).filter(([name]) => !SEPARATE_FACTS.has(name)),
      missing: end?.facts.missing === undefined ? null : String(end.facts.missing),
    };
  });
}

function endStatusOf(end: IncidentEntryView): StepStatus {
  if (end.facts.missing !== undefined) return "givenUp";
  return end.facts.stopped ? "stopped" : "done";
}

function openStatusOf(step: (typeof STEPS)[number], incident: IncidentDetailView): StepStatus {
  if (incident.step === step) return "current";
  const isAhead = incident.step !== "ENDED" && STEPS.indexOf(step) > STEPS.indexOf(incident.step);
  return isAhead && !(incident.stop_requested && step !== "LIFT") ? "next" : "omitted";
}

/** Adds up the numbers of the parts of a step. Their other facts are places at which a node continues. */
function totalsOf(parts: IncidentEntryView[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const part of parts)
    for (const [name, value] of Object.entries(part.facts))
      if (typeof value === "number") totals[name] = (totals[name] ?? 0) + value;
  return totals;
}

/** A finding that the timeline names. */
export interface NamedFinding {
  fault: string;
  job: string;
  at: string;
}

/** Returns the findings that the audit of the incident names. */
export function findingsOf(incident: IncidentDetailView): NamedFinding[] {
  const end = incident.timeline.find((entry) => entry.step === "AUDIT" && entry.part === "");
  return (end?.facts.named as NamedFinding[] | undefined) ?? [];
}
