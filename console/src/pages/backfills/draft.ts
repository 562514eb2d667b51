import type { NewBackfill } from "../../api/generated/models";
import { toLocalInput } from "../../parts/times";

export const MODES = ["unsuccessful", "missing", "failed", "all"] as const;
export type Mode = (typeof MODES)[number];
export const ORDERS = ["oldest", "newest"] as const;

/** A backfill as its form has it: times are those of the reader's clock, without a zone. */
export interface BackfillDraft {
  since: string;
  until: string;
  mode: Mode;
  order: (typeof ORDERS)[number];
  rate: number | null;
  cap: number;
}

const DAY_MS = 86_400_000;

/** The draft of a form that opens: the last day. */
export function newDraft(now: number): BackfillDraft {
  return {
    since: toLocalInput(new Date(now - DAY_MS)),
    until: toLocalInput(new Date(now)),
    mode: "unsuccessful",
    order: "oldest",
    rate: null,
    cap: 10_000,
  };
}

/** The request of a draft; null while its range is incomplete or empty. */
export function requestOf(draft: BackfillDraft): NewBackfill | null {
  const since = Date.parse(draft.since);
  const until = Date.parse(draft.until);
  if (Number.isNaN(since) || Number.isNaN(until) || since >= until) return null;
  return {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    cap: draft.cap,
    mode: draft.mode,
    newest_first: draft.order === "newest",
    rate: draft.rate,
  };
}

/** Rounds a pace to what people read: whole numbers from ten on, two digits below. */
export const paceText = (perSecond: number): string =>
  (perSecond >= 10 ? Math.round(perSecond) : Number(perSecond.toPrecision(2))).toLocaleString("en");
