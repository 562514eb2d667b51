import { readChoice, readText } from "../../parts/search-params";

export const STATUSES = ["NEW", "REPLAYING", "REPLAYED", "DEAD_AGAIN", "DISCARDED"] as const;
/** What can be chosen: `OPEN` is what can be replayed, and what the figures of the overview count. */
export const STATUS_CHOICES = ["OPEN", ...STATUSES] as const;
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
  status?: (typeof STATUS_CHOICES)[number];
  cursor?: string;
}

export function readFilters(raw: Record<string, unknown>): DeadLetterFilters {
  return {
    job: readText(raw.job),
    tag: readText(raw.tag),
    error_code: readChoice(raw.error_code, ERROR_CODES),
    cause: readText(raw.cause),
    status: readChoice(raw.status, STATUS_CHOICES),
    cursor: readText(raw.cursor),
  };
}

/** Returns the filters as the API has them. */
export const queryOf = ({ status, ...rest }: DeadLetterFilters) => ({
  ...rest,
  status: status === "OPEN" ? OPEN_STATUSES : status && [status],
});

const OPEN_STATUSES: (typeof STATUSES)[number][] = ["NEW", "DEAD_AGAIN"];

/** A dead letter can be replayed until a replay has succeeded or it was discarded, and not while a replay runs. */
export const isReplayable = (status: string): boolean => status === "NEW" || status === "DEAD_AGAIN";
