import { moment, text } from "../../parts/filters";

/** Which entries: it stands in the address. */
export interface Sought {
  actor?: string;
  action?: string;
  resource?: string;
  since?: string;
  until?: string;
  cursor?: string;
}

export function readSought(raw: Record<string, unknown>): Sought {
  return {
    actor: text(raw.actor),
    action: text(raw.action),
    resource: text(raw.resource),
    since: moment(raw.since),
    until: moment(raw.until),
    cursor: text(raw.cursor),
  };
}
