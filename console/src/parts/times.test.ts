import { expect, test } from "vitest";
import { ago, dateTime, duration, offset, secondsText } from "./times";

test("a time is shown in the given zone", () => {
  expect(dateTime("2026-11-15T16:30:05Z", "Asia/Shanghai")).toBe("2026-11-16 00:30:05");
  expect(dateTime("2026-11-15T16:30:05Z", "UTC")).toBe("2026-11-15 16:30:05");
});

test("the offset is the one of that instant", () => {
  expect(offset("2026-01-01T00:00:00Z", "Europe/Berlin")).toBe("+01:00");
  expect(offset("2026-07-01T00:00:00Z", "Europe/Berlin")).toBe("+02:00");
  expect(offset("2026-07-01T00:00:00Z", "UTC")).toBe("+00:00");
});

test("past and future times are shown in their largest unit", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");
  expect(ago("2026-11-15T11:58:30Z", now, "en")).toBe("1 min. ago");
  expect(ago("2026-11-17T12:00:00Z", now, "en")).toBe("in 2 days");
  expect(ago("2026-11-15T12:00:00Z", now, "en")).toBe("in 0 sec.");
});

test("durations are short", () => {
  expect([12, 1_500, 42_000, 90_000, 600_000, 5_400_000, 864_000_000].map(duration)).toEqual([
    "12 ms",
    "1.5 s",
    "42 s",
    "1 min 30 s",
    "10 min",
    "1 h 30 min",
    "10 d",
  ]);
});

test("a rest that is rounded up to a whole is not shown as sixty of the smaller unit", () => {
  expect([359_600, 3_599_900, 7_199_990, 86_399_999, 259_199_999].map(duration)).toEqual([
    "6 min",
    "60 min",
    "2 h",
    "24 h",
    "3 d",
  ]);
});

test("no seconds are none of a second, and not of a millisecond", () => {
  expect([0, 0.25, 4.2, 129].map(secondsText)).toEqual(["0 s", "250 ms", "4.2 s", "2 min 9 s"]);
});
