import { expect, test } from "vitest";
import type { CertifiedDayView } from "../../api/generated/models";
import { outcomeCounts, outcomesOf, rangeOf } from "./certified-days";

const certified = (day: string, findings_count: number) => ({ day, findings_count }) as CertifiedDayView;
const FOUND = { newest: "2026-11-18", days: [certified("2026-11-16", 0), certified("2026-11-17", 2)] };

test("a year is asked for at once and has at most 366 days", () => {
  expect(rangeOf("2026-11")).toEqual({ since: "2025-12-01", until: "2026-12-01" });
  expect(rangeOf("2028-12")).toEqual({ since: "2028-01-01", until: "2029-01-01" });
});

test("a day is clean, has faults, has no certificate, or is not over", () => {
  const november = outcomesOf("2026-11", FOUND).at(-1);
  expect(november?.days.slice(15, 19).map((day) => day.outcome)).toEqual([
    "clean",
    "faults",
    "missing",
    "open",
  ]);
});

test("months begin on their weekday and have all of their days", () => {
  const months = outcomesOf("2026-11", FOUND);
  expect([months.length, months[0]?.name, months.at(-1)?.name]).toEqual([12, "2025-12", "2026-11"]);
  expect(months.at(-1)?.blanks).toBe(6); // 1 November 2026 is a Sunday
  expect(months.reduce((sum, month) => sum + month.days.length, 0)).toBe(365);
  expect(outcomeCounts(months)).toEqual({ clean: 1, faults: 1, missing: 351, open: 12 });
});
