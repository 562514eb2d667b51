import { oneOf, text } from "../../parts/filters";

export const STATUSES = ["NEW", "REPLAYING", "REPLAYED", "DEAD_AGAIN", "DISCARDED"] as const;
export const CODES = [
  "TIMEOUT",
  "CONNECT",
  "TLS",
  "PROTOCOL",
  "HTTP_408",
  "HTTP_425",
  "HTTP_429",
  "HTTP_5XX",
  "HTTP_4XX",
  "REDIRECT",
  "HANDLER",
  "REFUSED",
  "CRASH_LOOP",
  "NO_TARGET",
  "NO_SECRET",
  "UNSENDABLE",
  "SEALED",
  "EXPIRED",
] as const;
export const TRANSIENT = "transient_error";

/** Which letters: it stands in the address. */
export interface Sought {
  job?: string;
  tag?: string;
  error_code?: string;
  status?: (typeof STATUSES)[number];
  cursor?: string;
}

export function readSought(raw: Record<string, unknown>): Sought {
  return {
    job: text(raw.job),
    tag: oneOf(raw.tag, [TRANSIENT]),
    error_code: oneOf(raw.error_code, CODES),
    status: oneOf(raw.status, STATUSES),
    cursor: text(raw.cursor),
  };
}

/** A letter can be sent again until that succeeded or it was given up; one that is on its way is waited for. */
export const replayable = (status: string): boolean => status === "NEW" || status === "DEAD_AGAIN";
