import { expect, test } from "vitest";
import type { PacedReplayView } from "../../api/generated/models";
import { partsOf, secondsLeft } from "./replay-progress";
import { compact } from "./selection";

const REPLAY: PacedReplayView = {
  id: "prp_1",
  status: "RUNNING",
  limit: 100,
  pace: 5,
  canary: 2,
  created_at: "2026-11-18T00:00:00Z",
  created_by: "ada",
  sent: 30,
  outstanding: 10,
  succeeded: 15,
  failed: 5,
  returned: 0,
  refused: 20,
};

test("the bar has a part for each outcome, and none for those without any", () => {
  expect(partsOf(REPLAY).map((one) => [one.part, one.share])).toEqual([
    ["succeeded", 0.15],
    ["failed", 0.05],
    ["refused", 0.2],
    ["outstanding", 0.1],
  ]);
});

test("a replay that completed below its limit fills the bar", () => {
  const shares = partsOf({ ...REPLAY, status: "COMPLETED", outstanding: 0 }).map((one) => one.share);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
});

test("the rest is estimated by the pace, and not while the canary runs", () => {
  expect(secondsLeft(REPLAY)).toBe(10);
  expect(secondsLeft({ ...REPLAY, status: "CANARY" })).toBeNull();
});

test("empty parts of a filter are left out", () => {
  expect(compact({ job: "a", tag: undefined, error_code: "" })).toEqual({ job: "a" });
});
