import { expect, test } from "vitest";
import type { DrillView } from "../../api/generated/models";
import { kindLinesOf, maximumOf } from "./drill-chart";

const drill = (kind: string, ended_at: string, rto_s: number | null) =>
  ({ kind, ended_at, rto_s }) as DrillView;
const DRILLS = [
  drill("restore", "2030-03-01T00:00:00Z", null),
  drill("node-loss", "2030-02-01T00:00:00Z", 4),
  drill("cell-loss", "2030-01-02T00:00:00Z", 9),
  drill("node-loss", "2030-01-01T00:00:00Z", 6),
];

test("each kind has a line from its oldest drill to its newest, without those that were not measured", () => {
  expect(kindLinesOf(DRILLS, "rto_s")).toEqual([
    {
      kind: "node-loss",
      points: [
        ["2030-01-01T00:00:00Z", 6],
        ["2030-02-01T00:00:00Z", 4],
      ],
    },
    { kind: "cell-loss", points: [["2030-01-02T00:00:00Z", 9]] },
  ]);
});

test("the largest figure is that of a measured drill", () => {
  expect(maximumOf(DRILLS, "rto_s")).toBe(9);
  expect(maximumOf(DRILLS.slice(0, 1), "rto_s")).toBeNull();
});
