import { expect, test } from "vitest";
import { clockChanges } from "./clock-changes";

const FROM = Date.parse("2026-11-15T10:17:33Z");

test("a zone with summer time changes twice a year, to the minute", () => {
  expect(clockChanges("Europe/Berlin", FROM)).toEqual([
    { at: "2027-03-28T01:00:00.000Z", before: "+01:00", after: "+02:00", forward: true },
    { at: "2027-10-31T01:00:00.000Z", before: "+02:00", after: "+01:00", forward: false },
  ]);
});

test("west of Greenwich forward is forward, too", () => {
  expect(clockChanges("America/New_York", FROM).map((one) => [one.at.slice(0, 13), one.forward])).toEqual([
    ["2027-03-14T07", true],
    ["2027-11-07T06", false],
  ]);
});

test("a zone without it never changes", () => {
  expect(clockChanges("Asia/Shanghai", FROM)).toEqual([]);
});
