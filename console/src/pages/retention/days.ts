/** The days of a cell in runs of days that follow each other and are at the same place. */
import type { DayPlace, RetentionDayView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

const DAY_MS = 86_400_000;

/** Days that follow each other at one place; sizes are sums, null where no day has one. */
export interface DayRun {
  first: string;
  last: string;
  place: DayPlace;
  days: number;
  bytes: number | null;
  archivedBytes: number | null;
  archivedRows: number | null;
}

/** Returns the runs of days, the newest first. */
export function dayRunsOf(days: RetentionDayView[]): DayRun[] {
  const runs: DayRun[] = [];
  for (const day of [...days].sort((one, other) => other.day.localeCompare(one.day))) {
    const run = runs.at(-1);
    if (run && run.place === day.place && isNext(day.day, run.first)) {
      run.first = day.day;
      run.days += 1;
      run.bytes = sum(run.bytes, day.bytes);
      run.archivedBytes = sum(run.archivedBytes, day.archived_bytes);
      run.archivedRows = sum(run.archivedRows, day.archived_rows);
    } else {
      runs.push({
        first: day.day,
        last: day.day,
        place: day.place,
        days: 1,
        bytes: day.bytes ?? null,
        archivedBytes: day.archived_bytes ?? null,
        archivedRows: day.archived_rows ?? null,
      });
    }
  }
  return runs;
}

const isNext = (day: string, later: string): boolean => Date.parse(later) - Date.parse(day) === DAY_MS;

const sum = (one: number | null, other: number | null | undefined): number | null =>
  one === null && (other === null || other === undefined) ? null : (one ?? 0) + (other ?? 0);

export const PLACE_TONES: Record<DayPlace, Tone> = {
  OPEN: "busy",
  HOT: "good",
  WAITING: "warn",
  BOTH: "good",
  ARCHIVED: "idle",
  DELETING: "idle",
};
