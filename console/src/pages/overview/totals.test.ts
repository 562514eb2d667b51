import { expect, test } from "vitest";
import type { HealthPointView, HealthView } from "../../api/generated/models";
import { formatTotals, isOutdated, totalsOf } from "./totals";

const point = (fires: number) => ({ fires, success: fires }) as HealthPointView;
const health = (fires10m: number) => ({ fires10m }) as HealthView;

test("a day with fewer fires than its last ten minutes is outdated", () => {
  expect(isOutdated([point(4_000), point(195)], health(4_467))).toBe(true);
  expect(isOutdated([point(4_000), point(467)], health(4_467))).toBe(false);
  expect(isOutdated(undefined, health(1))).toBe(false);
  expect(isOutdated([], null)).toBe(false);
});

test("numbers of a sentence are written as those of the tiles", () => {
  expect(formatTotals(totalsOf([point(4_195)])).fires).toBe("4,195");
});
