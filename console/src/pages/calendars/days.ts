/** The days of a calendar: which belong to it, and what a change of one day means. A date is a text, `2026-11-19`. */
import type { CalendarView, NewCalendar } from "../../api/generated/models";

/** The parts of a calendar that can be changed. */
export interface Draft {
  first: string;
  last: string;
  weekdays: number[];
  added: string[];
  removed: string[];
}

/** Whether a day belongs to a calendar; `unknown` before its first and after its last day. */
export type DayState = "inside" | "outside" | "unknown";
/** A day that differs from its weekday. */
export type DayException = "added" | "removed";

const DAY_MS = 86_400_000;
export const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;

export const draftOf = ({ first, last, weekdays, added, removed }: CalendarView): Draft => ({
  first,
  last,
  weekdays,
  added,
  removed,
});

/** Returns the request body. Single days that the calendar no longer covers are left out. */
export function bodyOf(draft: Draft): NewCalendar {
  const covered = (date: string) => draft.first <= date && date <= draft.last;
  return {
    ...draft,
    weekdays: [...draft.weekdays].sort(),
    added: draft.added.filter(covered).sort(),
    removed: draft.removed.filter(covered).sort(),
  };
}

export const isSame = (one: Draft, other: Draft): boolean =>
  JSON.stringify(bodyOf(one)) === JSON.stringify(bodyOf(other));

/** Returns the ISO number of the weekday of a date: 1 is Monday. */
export const weekdayOf = (date: string): number => new Date(`${date}T00:00:00Z`).getUTCDay() || 7;

export function stateOf(draft: Draft, date: string): DayState {
  if (date < draft.first || date > draft.last) return "unknown";
  if (draft.added.includes(date)) return "inside";
  return draft.weekdays.includes(weekdayOf(date)) && !draft.removed.includes(date) ? "inside" : "outside";
}

export function exceptionOf(draft: Draft, date: string): DayException | undefined {
  if (stateOf(draft, date) === "unknown") return undefined;
  if (draft.added.includes(date)) return "added";
  return draft.removed.includes(date) ? "removed" : undefined;
}

/** Returns the draft with one day taken in or out. A day that is not covered stays as it is. */
export function toggleDay(draft: Draft, date: string): Draft {
  const state = stateOf(draft, date);
  if (state === "unknown") return draft;
  const added = draft.added.filter((one) => one !== date);
  const removed = draft.removed.filter((one) => one !== date);
  const byWeekday = draft.weekdays.includes(weekdayOf(date));
  if (state === "outside" && !byWeekday) added.push(date);
  if (state === "inside" && byWeekday) removed.push(date);
  return { ...draft, added, removed };
}

export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/** Returns the same day `months` later, or the last day of a shorter month. */
export function shiftMonths(date: string, months: number): string {
  const [year, month, day] = date.split("-").map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0));
  return `${last.toISOString().slice(0, 8)}${String(Math.min(day, last.getUTCDate())).padStart(2, "0")}`;
}

/** Returns the date to which a key moves in a month view; nothing for other keys. */
export function movedBy(key: string, shift: boolean, date: string): string | undefined {
  switch (key) {
    case "ArrowLeft":
      return addDays(date, -1);
    case "ArrowRight":
      return addDays(date, 1);
    case "ArrowUp":
      return addDays(date, -7);
    case "ArrowDown":
      return addDays(date, 7);
    case "Home":
      return addDays(date, 1 - weekdayOf(date));
    case "End":
      return addDays(date, 7 - weekdayOf(date));
    case "PageUp":
      return shiftMonths(date, shift ? -12 : -1);
    case "PageDown":
      return shiftMonths(date, shift ? 12 : 1);
    default:
      return undefined;
  }
}

/** Reads a month of the address, such as 2026-11; others are ignored. */
export function readMonth(value: unknown): string | undefined {
  return typeof value === "string" && /^\d{4}-(0[1-9]|1[0-2])$/.test(value) ? value : undefined;
}
