import { moment, someOf, text } from "../../parts/filters";

export const LIVE = ["INIT", "BLOCKED", "RUNNING", "FAIL"] as const;
export const STATES = [...LIVE, "SUCCESS", "DEAD", "CANCELLED", "SKIPPED"] as const;
export type State = (typeof STATES)[number];

/** What is looked for: it stands in the address, so that a link shows the same list. */
export interface Sought {
  job?: string;
  key?: string;
  state?: State[];
  since?: string;
  until?: string;
  cursor?: string;
}

export function readSought(raw: Record<string, unknown>): Sought {
  return {
    job: text(raw.job),
    key: text(raw.key),
    state: someOf(raw.state, STATES),
    since: moment(raw.since),
    until: moment(raw.until),
    cursor: text(raw.cursor),
  };
}

export const isLive = (state: string): boolean => LIVE.some((one) => one === state);
