import { expect, test } from "vitest";
import { figures } from "./figures";

const WELL = {
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
  expect(new Set(figures(null).map((one) => one.text))).toEqual(new Set(["–"]));
});

test("what is well is quiet", () => {
  expect(figures(WELL).every((one) => one.tone === "idle")).toBe(true);
  expect(figures(WELL)[2]?.text).toBe("12,345");
});

test("each number speaks up from its threshold on", () => {
  const bad = figures({
    ...WELL,
    triggerDelayP95Ms: 2_001,
    successRate10m: 0.9949,
    retryBacklog: 200_001,
    dlqGrowthPerMin: 1_001,
  });
  expect(bad.filter((one) => one.tone === "bad").map((one) => one.name)).toEqual([
    "delay",
    "rate",
    "retries",
    "letters",
  ]);
});

test("almost all is not all", () => {
  expect(figures({ ...WELL, successRate10m: 0.99999 })[1]?.text).toBe("99.99 %");
});
