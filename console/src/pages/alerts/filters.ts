import { readChoice, readText } from "../../parts/search-params";
import { KINDS, type Kind } from "./kinds";

/** The states of alerts, in the order of their lists. */
export const STATES = ["OPEN", "ACKNOWLEDGED", "RESOLVED"] as const;
export type State = (typeof STATES)[number];

/** The filters of the alerts, and the cursor of each list; they are part of the address. */
export interface AlertFilters {
  state?: State;
  kind?: Kind;
  job?: string;
  open?: string;
  acknowledged?: string;
  resolved?: string;
}

export function readFilters(raw: Record<string, unknown>): AlertFilters {
  return {
    state: readChoice(raw.state, STATES),
    kind: readChoice(raw.kind, KINDS),
    job: readText(raw.job),
    open: readText(raw.open),
    acknowledged: readText(raw.acknowledged),
    resolved: readText(raw.resolved),
  };
}
