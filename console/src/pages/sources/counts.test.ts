import { expect, test } from "vitest";
import type { SourceRoundView } from "../../api/generated/models";
import { isOver, openCount, repairedCount, verdict } from "./counts";

const round = (drift: number, counts: Record<string, number>) =>
  ({ drift, counts }) as unknown as SourceRoundView;

test("differences that a round did not repair are open", () => {
  const one = round(5, { missing: 2, drifted: 1, orphans: 2, created: 2, moved: 1, kept: 2 });
  expect([repairedCount(one), openCount(one)]).toEqual([3, 2]);
});

test("a dry run repairs nothing", () => {
  expect(openCount(round(3, { missing: 3 }))).toBe(3);
});

test("only a round that has compared everything says that nothing differs", () => {
  const empty = (["RUNNING", "STOPPED", "DONE"] as const).map((status) =>
    verdict({ ...round(0, {}), status }),
  );
  expect(empty).toEqual(["running", "stopped", "none"]);
  expect(verdict({ ...round(1, { missing: 1 }), status: "RUNNING" })).toBe("found");
});

test("a round is over when it has ended or another has begun, never by one before it", () => {
  const last = (number: number, status: SourceRoundView["status"]) => ({ ...round(0, {}), number, status });
  expect(isOver(2, last(1, "DONE"))).toBe(false);
  expect(isOver(2, last(2, "RUNNING"))).toBe(false);
  expect(isOver(2, last(2, "DONE"))).toBe(true);
  expect(isOver(2, last(3, "RUNNING"))).toBe(true);
});
