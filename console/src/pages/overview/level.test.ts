import { expect, test } from "vitest";
import { levelFiguresOf, shareText } from "./level";

const LEVEL = {
  expected: 1_000_000,
  in_time: 999_999,
  late: 1,
  overdue: 0,
  availability: 0.999999,
  budget_remaining: 0.999,
  burn_rates: { "1h": 0.01 },
  burning: [],
};

test("one late fire of a million never reads as 100 %", () => {
  expect([
    shareText(0.999999),
    shareText(1),
    shareText(0.9985),
    shareText(null),
    shareText(-0.25, 1),
  ]).toEqual(["99.999 %", "100 %", "99.85 %", "–", "-25 %"]);
});

test("the budget is marked while it burns too fast, and only then", () => {
  const marked = (burning: string[]) =>
    levelFiguresOf({ ...LEVEL, burning })
      .filter((one) => one.tone !== "idle")
      .map((one) => one.name);
  expect(marked([])).toEqual([]);
  expect(marked(["fast"])).toEqual(["budget", "burn"]);
});
