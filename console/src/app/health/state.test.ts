import { expect, test } from "vitest";
import {
  backOffMs,
  type HealthState,
  INITIAL_STATE,
  isReadOnly,
  messageOf,
  recordAnswer,
  recordFailure,
} from "./state";

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

test("before the first answer the message is that it is starting", () => {
  expect(messageOf(INITIAL_STATE)).toEqual({ key: "starting" });
});

test("it waits two seconds more with every failure, and never longer than thirty", () => {
  const waits = [0, 1, 2, 3, 13, 14, 15, 100].map((failures) => backOffMs(after(failures)));
  expect(waits).toEqual([2_000, 4_000, 6_000, 8_000, 28_000, 30_000, 30_000, 30_000]);
});

test("two failures are shown with their number and cause, and change nothing else", () => {
  const state = after(2);
  expect(messageOf(state)).toEqual({ key: "failed", failures: 2, error: "HTTP 503" });
  expect(isReadOnly(state)).toBe(false);
});

test("the third failure in a row makes it read-only, with the last summary kept", () => {
  const state = after(3, recordAnswer(HEALTHY, 1));
  expect(isReadOnly(state)).toBe(true);
  expect(messageOf(state)).toEqual({ key: "readOnly" });
  expect(state.summary).toEqual(HEALTHY);
  expect(state.seenAt).toBe(1);
});

test("one answer ends the read-only state, and resets the count", () => {
  const back = recordAnswer(HEALTHY, 2);
  expect(isReadOnly(back)).toBe(false);
  expect(messageOf(back)).toEqual({ key: "healthy" });
  expect(backOffMs(back)).toBe(2_000);
  expect(messageOf(recordFailure(back, "x"))).toMatchObject({ failures: 1 });
});

test("the degraded sentence follows the mode, and says which figure is beyond which limit", () => {
  expect(messageOf(recordAnswer({ ...HEALTHY, mode: "DEGRADED", triggerDelayP95Ms: 8_100 }, 1))).toEqual({
    key: "degraded",
    delay: "8.1 s",
    limit: "2.0 s",
  });
  expect(messageOf(recordAnswer({ ...HEALTHY, triggerDelayP95Ms: 5_000 }, 1))).toEqual({ key: "healthy" });
});

test("cells that do not answer are named", () => {
  const state = recordAnswer({ ...HEALTHY, mode: "DEGRADED", cellsDown: ["b", "c"] }, 1);
  expect(messageOf(state)).toEqual({ key: "cellsDown", cells: "b, c" });
});
