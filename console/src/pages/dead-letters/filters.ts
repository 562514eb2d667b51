import { readChoice, readText } from "../../parts/search-params";

export const STATUSES = ["NEW", "REPLAYING", "REPLAYED", "DEAD_AGAIN", "DISCARDED"] as const;
export const ERROR_CODES = [
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
export const TRANSIENT_TAG = "transient_error";

/** The filters of the dead letters; they are part of the address. */
export interface DeadLetterFilters {
  job?: string;
  tag?: string;
  error_code?: string;
  cause?: string;
  status?: (typeof STATUSES)[number];
  cursor?: string;
}

export function readFilters(raw: Record<string, unknown>): DeadLetterFilters {
  return {
    job: readText(raw.job),
    tag: readText(raw.tag),
    error_code: readChoice(raw.error_code, ERROR_CODES),
    cause: readText(raw.cause),
    status: readChoice(raw.status, STATUSES),
    cursor: readText(raw.cursor),
  };
}

/** A dead letter can be replayed until a replay has succeeded or it was discarded, and not while a replay runs. */
export const isReplayable = (status: string): boolean => status === "NEW" || status === "DEAD_AGAIN";
