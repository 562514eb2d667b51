import { expect, test } from "vitest";
import type { InstanceView } from "../../api/generated/models";
import { barHeights, countByState } from "./run-bars";

const run = (state: string, duration_ms: number | null = null) => ({ state, duration_ms }) as InstanceView;

test("the longest run is the tallest bar, and one that took nothing can still be seen", () => {
  expect(barHeights([run("SUCCESS", 0), run("SUCCESS", 1_000), run("RUNNING")])).toEqual([8, 40, 8]);
  expect(barHeights([])).toEqual([]);
});

test("outcomes are counted, the most frequent first", () => {
  expect(countByState([run("DEAD"), run("SUCCESS"), run("SUCCESS")])).toEqual([
    ["SUCCESS", 2],
    ["DEAD", 1],
  ]);
});
