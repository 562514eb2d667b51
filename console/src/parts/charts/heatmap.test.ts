import { expect, test } from "vitest";
import { heatmapOf } from "./heatmap";

test("a day from the middle of an hour has 25 rows, and every minute its place", () => {
  const heatmap = heatmapOf("2026-11-15T12:30:20Z", [5, ...Array(1_438).fill(0), 7]);
  expect(heatmap.hours).toHaveLength(25);
  expect(heatmap.cells).toHaveLength(1_440);
  expect(heatmap.cells[0]).toEqual([new Date("2026-11-15T12:30:00Z").getMinutes(), 0, 5]);
  expect(heatmap.cells.at(-1)?.slice(1)).toEqual([24, 7]);
  expect(heatmap.most).toBe(7);
});

test("an empty forecast is an empty heatmap", () => {
  expect(heatmapOf("2026-11-15T12:00:00Z", [])).toEqual({ hours: [], cells: [], most: 0 });
});
