import { readChoice, readChoices, readText, readTime } from "../../parts/search-params";

export const LIVE = ["INIT", "BLOCKED", "RUNNING", "FAIL"] as const;
export const STATES = [...LIVE, "SUCCESS", "DEAD", "CANCELLED", "SKIPPED"] as const;
export type State = (typeof STATES)[number];

export const ORDERS = ["created", "fire_time"] as const;
/** What `since` and `until` refer to in the list of all jobs. Instances of one job are always sorted by fire time. */
export type Order = (typeof ORDERS)[number];

/** The filters of the instances; they are part of the address, so that a link shows the same list. */
export interface InstanceFilters {
  job?: string;
  key?: string;
  state?: State[];
  since?: string;
  until?: string;
  order?: Order;
  cursor?: string;
}

export function readFilters(raw: Record<string, unknown>): InstanceFilters {
  return {
    job: readText(raw.job),
    key: readText(raw.key),
    state: readChoices(raw.state, STATES),
    since: readTime(raw.since),
    until: readTime(raw.until),
    order: readChoice(raw.order, ORDERS),
    cursor: readText(raw.cursor),
  };
}

export const isLive = (state: string): boolean => LIVE.some((one) => one === state);
