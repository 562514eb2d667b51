import { expect, test } from "vitest";
import { backOffMs, type HealthState, INITIAL_STATE, isReadOnly, recordAnswer, recordFailure } from "./state";

const HEALTHY = {
  mode: "NORMAL" as const,
  triggerDelayP95Ms: 12,
  triggerDelayLimitMs: 2_000,
  successRate10m: 1,
  retryBacklog: 0,
  dlqGrowthPerMin: 0,
  backlog: 0,
  fires10m: 10,
};

const after = (failures: number, from: HealthState = INITIAL_STATE): HealthState =>
  failures === 0 ? from : after(failures - 1, recordFailure(from, "HTTP 503"));

test("it waits two seconds more with every failure, and never longer than thirty", () => {
  const waits = [0, 1, 2, 3, 13, 14, 15, 100].map((failures) => backOffMs(after(failures)));
  expect(waits).toEqual([2_000, 4_000, 6_000, 8_000, 28_000, 30_000, 30_000, 30_000]);
});

test("the third failure in a row makes it read-only, with the last summary kept", () => {
  const state = after(3, recordAnswer(HEALTHY, 1));
  expect(isReadOnly(state)).toBe(true);
  expect(state.summary).toEqual(HEALTHY);
  expect(state.seenAt).toBe(1);
});

test("one answer ends the read-only state, and resets the count", () => {
  const back = recordAnswer(HEALTHY, 2);
  expect(isReadOnly(back)).toBe(false);
  expect(backOffMs(back)).toBe(2_000);
  expect(recordFailure(back, "x").failures).toBe(1);
});
