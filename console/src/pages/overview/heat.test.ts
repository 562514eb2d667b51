import { expect, test } from "vitest";
import { heat } from "./heat";

test("a day from the middle of an hour has 25 rows, and every minute its place", () => {
  const found = heat("2026-11-15T12:30:20Z", [5, ...Array(1_438).fill(0), 7]);
  expect(found.hours).toHaveLength(25);
  expect(found.cells).toHaveLength(1_440);
  expect(found.cells[0]).toEqual([new Date("2026-11-15T12:30:00Z").getMinutes(), 0, 5]);
  expect(found.cells.at(-1)?.slice(1)).toEqual([24, 7]);
  expect(found.most).toBe(7);
});

test("nothing coming is an empty field", () => {
  expect(heat("2026-11-15T12:00:00Z", [])).toEqual({ hours: [], cells: [], most: 0 });
});
