import { expect, test } from "vitest";
import { addMonths, calendarDays } from "./month";

test("a month is shown in whole weeks from Monday on", () => {
  const days = calendarDays("2026-11", [], "UTC");
  expect(days.length % 7).toBe(0);
  expect(days[0]?.date).toBe("2026-10-26");
  expect(days.at(-1)?.date).toBe("2026-12-06");
  expect(days.filter((day) => day.inside)).toHaveLength(30);
});

test("a month that begins on a Monday begins with it", () => {
  expect(calendarDays("2027-02", [], "UTC")[0]?.date).toBe("2027-02-01");
  expect(calendarDays("2027-02", [], "UTC")).toHaveLength(28);
});

test("a fire lies on its day in the job's zone", () => {
  const late = { fire_time: "2026-11-15T16:30:00Z" };
  const on = (zone: string) =>
    calendarDays("2026-11", [late], zone).find((day) => day.fires.length > 0)?.date;
  expect(on("UTC")).toBe("2026-11-15");
  expect(on("Asia/Shanghai")).toBe("2026-11-16");
});

test("months are added across the end of a year", () => {
  expect([addMonths("2026-12", 1), addMonths("2026-01", -1)]).toEqual(["2027-01", "2025-12"]);
});
