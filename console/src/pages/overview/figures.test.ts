import { expect, test } from "vitest";
import { figuresOf } from "./figures";

const HEALTHY = {
  mode: "NORMAL" as const,
  triggerDelayP95Ms: 12,
  triggerDelayLimitMs: 2_000,
  successRate10m: 1,
  retryBacklog: 0,
  dlqGrowthPerMin: 0,
  backlog: 0,
  fires10m: 12_345,
};

test("before the first answer there are dashes, not zeros", () => {
  expect(new Set(figuresOf(null).map((one) => one.text))).toEqual(new Set(["–"]));
});

test("healthy figures are not marked", () => {
  expect(figuresOf(HEALTHY).every((one) => one.tone === "idle")).toBe(true);
  expect(figuresOf(HEALTHY)[2]?.text).toBe("12,345");
});

test("each figure is marked from its threshold on", () => {
  const bad = figuresOf({
    ...HEALTHY,
    triggerDelayP95Ms: 2_001,
    successRate10m: 0.9949,
    retryBacklog: 200_001,
    dlqGrowthPerMin: 1_001,
  });
  expect(bad.filter((one) => one.tone === "bad").map((one) => one.name)).toEqual([
    "delay",
    "rate",
    "retries",
    "deadLetters",
  ]);
});

test("99.999 % is not rounded up to 100 %", () => {
  expect(figuresOf({ ...HEALTHY, successRate10m: 0.99999 })[1]?.text).toBe("99.99 %");
});
