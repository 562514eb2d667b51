import { expect, test } from "vitest";
import { answered, backOff, FIRST, failed, readOnly, sentence, type Watch } from "./machine";

const WELL = {
  mode: "NORMAL" as const,
  triggerDelayP95Ms: 12,
  triggerDelayLimitMs: 2_000,
  successRate10m: 1,
  retryBacklog: 0,
  dlqGrowthPerMin: 0,
  backlog: 0,
  fires10m: 10,
};

const after = (failures: number, from: Watch = FIRST): Watch =>
  failures === 0 ? from : after(failures - 1, failed(from, "HTTP 503"));

test("before the first answer it says that it is starting", () => {
  expect(sentence(FIRST)).toEqual({ key: "starting" });
});

test("it waits two seconds more with every failure, and never longer than thirty", () => {
  const waits = [0, 1, 2, 3, 13, 14, 15, 100].map((failures) => backOff(after(failures)));
  expect(waits).toEqual([2_000, 4_000, 6_000, 8_000, 28_000, 30_000, 30_000, 30_000]);
});

test("two failures are told with their number and cause, and change nothing else", () => {
  const watch = after(2);
  expect(sentence(watch)).toEqual({ key: "failed", failures: 2, error: "HTTP 503" });
  expect(readOnly(watch)).toBe(false);
});

test("the third failure in a row makes it read-only, with the last summary kept", () => {
  const watch = after(3, answered(FIRST, WELL, 1));
  expect(readOnly(watch)).toBe(true);
  expect(sentence(watch)).toEqual({ key: "readOnly" });
  expect(watch.summary).toEqual(WELL);
  expect(watch.seenAt).toBe(1);
});

test("one answer brings it back, and the count begins anew", () => {
  const back = answered(after(7), WELL, 2);
  expect(readOnly(back)).toBe(false);
  expect(sentence(back)).toEqual({ key: "healthy" });
  expect(backOff(back)).toBe(2_000);
  expect(sentence(failed(back, "x"))).toMatchObject({ failures: 1 });
});

test("the degraded sentence follows the mode, and says which figure is beyond which limit", () => {
  expect(sentence(answered(FIRST, { ...WELL, mode: "DEGRADED", triggerDelayP95Ms: 8_100 }, 1))).toEqual({
    key: "degraded",
    delay: "8.1 s",
    limit: "2.0 s",
  });
  expect(sentence(answered(FIRST, { ...WELL, triggerDelayP95Ms: 5_000 }, 1))).toEqual({ key: "healthy" });
});

test("cells that do not answer are named", () => {
  const watch = answered(FIRST, { ...WELL, mode: "DEGRADED", cellsDown: ["b", "c"] }, 1);
  expect(sentence(watch)).toEqual({ key: "cellsDown", cells: "b, c" });
});
