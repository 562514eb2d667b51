import { expect, test } from "vitest";
import { bodyOf, type Draft, exceptionOf, isSame, movedBy, readMonth, stateOf, toggleDay } from "./days";

const WORKDAYS: Draft = {
  first: "2026-01-01",
  last: "2026-12-31",
  weekdays: [1, 2, 3, 4, 5],
  added: ["2026-10-10"],
  removed: ["2026-10-01"],
};

test("a day belongs to a calendar by its weekday, unless it is added or removed", () => {
  expect(stateOf(WORKDAYS, "2026-11-19")).toBe("inside");
  expect(stateOf(WORKDAYS, "2026-11-21")).toBe("outside");
  expect([stateOf(WORKDAYS, "2026-10-10"), exceptionOf(WORKDAYS, "2026-10-10")]).toEqual(["inside", "added"]);
  expect([stateOf(WORKDAYS, "2026-10-01"), exceptionOf(WORKDAYS, "2026-10-01")]).toEqual([
    "outside",
    "removed",
  ]);
  expect(stateOf(WORKDAYS, "2027-01-01")).toBe("unknown");
});

test("a day that is changed twice is as it was, and needs no exception", () => {
  for (const date of ["2026-11-19", "2026-11-21", "2026-10-10", "2026-10-01"]) {
    const once = toggleDay(WORKDAYS, date);
    expect(stateOf(once, date)).not.toBe(stateOf(WORKDAYS, date));
    expect(stateOf(toggleDay(once, date), date)).toBe(stateOf(WORKDAYS, date));
  }
  expect(isSame(toggleDay(toggleDay(WORKDAYS, "2026-11-19"), "2026-11-19"), WORKDAYS)).toBe(true);
  expect(toggleDay(WORKDAYS, "2030-01-01")).toBe(WORKDAYS);
});

test("single days outside of a shortened calendar are not sent", () => {
  expect(bodyOf({ ...WORKDAYS, last: "2026-09-30" })).toMatchObject({ added: [], removed: [] });
});

test("keys walk by day, week, month and year", () => {
  expect(movedBy("ArrowLeft", false, "2026-03-01")).toBe("2026-02-28");
  expect(movedBy("ArrowDown", false, "2026-12-28")).toBe("2027-01-04");
  expect(movedBy("PageDown", false, "2026-01-31")).toBe("2026-02-28");
  expect(movedBy("PageUp", true, "2028-02-29")).toBe("2027-02-28");
  expect([movedBy("Home", false, "2026-11-19"), movedBy("End", false, "2026-11-19")]).toEqual([
    "2026-11-16",
    "2026-11-22",
  ]);
  expect(movedBy("a", false, "2026-11-19")).toBeUndefined();
});

test("a month of the address that is none is ignored", () => {
  expect(readMonth("2026-11")).toBe("2026-11");
  expect([readMonth("2026-13"), readMonth("soon"), readMonth(202611)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
