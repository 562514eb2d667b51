import { expect, test } from "vitest";
import type { HealthView, PointView } from "../../api/generated/models";
import { outdated, sums, written } from "./sums";

const point = (fires: number) => ({ fires, success: fires }) as PointView;
const health = (fires10m: number) => ({ fires10m }) as HealthView;

test("a day with fewer fires than its last ten minutes is outdated", () => {
  expect(outdated([point(4_000), point(195)], health(4_467))).toBe(true);
  expect(outdated([point(4_000), point(467)], health(4_467))).toBe(false);
  expect(outdated(undefined, health(1))).toBe(false);
  expect(outdated([], null)).toBe(false);
});

test("numbers of a sentence are written as those of the tiles", () => {
  expect(written(sums([point(4_195)])).fires).toBe("4,195");
});
