import { expect, test } from "vitest";
import type { RoundView } from "../../api/generated/models";
import { open, repaired } from "./counts";

const round = (drift: number, counts: Record<string, number>) => ({ drift, counts }) as unknown as RoundView;

test("what a round found and did not put right is open", () => {
  const one = round(5, { missing: 2, drifted: 1, orphans: 2, created: 2, moved: 1, kept: 2 });
  expect([repaired(one), open(one)]).toEqual([3, 2]);
});

test("a dry round puts nothing right", () => {
  expect(open(round(3, { missing: 3 }))).toBe(3);
});
