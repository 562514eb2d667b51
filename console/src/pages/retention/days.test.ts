import { expect, test } from "vitest";
import type { RetentionDayView } from "../../api/generated/models";
import { dayRunsOf } from "./days";

const day = (text: string, place: string, bytes: number | null, archived: number | null = null) =>
  ({ day: text, place, bytes, archived_bytes: archived, archived_rows: archived }) as RetentionDayView;

test("days that follow each other at one place are one run, the newest first", () => {
  const runs = dayRunsOf([
    day("2026-02-27", "ARCHIVED", null, 5),
    day("2026-02-28", "ARCHIVED", null, 7),
    day("2026-03-01", "BOTH", 10, 1),
    day("2026-03-02", "OPEN", 3),
  ]);
  expect(runs.map(({ first, last, place, days }) => [first, last, place, days])).toEqual([
    ["2026-03-02", "2026-03-02", "OPEN", 1],
    ["2026-03-01", "2026-03-01", "BOTH", 1],
    ["2026-02-27", "2026-02-28", "ARCHIVED", 2],
  ]);
  expect(runs.at(-1)).toMatchObject({ bytes: null, archivedBytes: 12 });
});

test("a missing day ends a run", () => {
  expect(dayRunsOf([day("2026-03-01", "HOT", 1), day("2026-03-03", "HOT", 2)])).toHaveLength(2);
});
