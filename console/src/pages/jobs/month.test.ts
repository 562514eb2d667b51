import { expect, test } from "vitest";
import { month, turned } from "./month";

test("a month is shown in whole weeks from Monday on", () => {
  const days = month("2026-11", [], "UTC");
  expect(days.length % 7).toBe(0);
  expect(days[0]?.date).toBe("2026-10-26");
  expect(days.at(-1)?.date).toBe("2026-12-06");
  expect(days.filter((day) => day.inside)).toHaveLength(30);
});

test("a month that begins on a Monday begins with it", () => {
  expect(month("2027-02", [], "UTC")[0]?.date).toBe("2027-02-01");
  expect(month("2027-02", [], "UTC")).toHaveLength(28);
});

test("a fire lies on its day in the job's zone", () => {
  const late = { fire_time: "2026-11-15T16:30:00Z" };
  const on = (zone: string) => month("2026-11", [late], zone).find((day) => day.fires.length > 0)?.date;
  expect(on("UTC")).toBe("2026-11-15");
  expect(on("Asia/Shanghai")).toBe("2026-11-16");
});

test("months are turned over the year's end", () => {
  expect([turned("2026-12", 1), turned("2026-01", -1)]).toEqual(["2027-01", "2025-12"]);
});
