import { expect, test } from "vitest";
import type { CellGrowthView } from "../../api/generated/models";
import { bloatedTablesOf, fullTone, holdersOf } from "./growth";

test("a disk is marked as horae doctor marks it", () => {
  expect([0, 7, 8, 30, 31].map(fullTone)).toEqual(["bad", "bad", "warn", "warn", "idle"]);
});

test("subscriptions and compensations hold days back", () => {
  const held = { days: 2, oldest: "2030-03-04", subscriptions: ["orders"], unrelayed: 3 };
  expect(holdersOf(held, (count) => `${count} compensations`)).toBe("orders, 3 compensations");
  expect(holdersOf({ ...held, unrelayed: 0 }, String)).toBe("orders");
});

test("only bloated tables are named", () => {
  const table = { bytes: 1, live_rows: 1_000, dead_rows: 200_000 };
  const tables = [
    { ...table, name: "instance_live", bloated: true },
    { ...table, name: "task_key", bloated: false },
  ];
  const cell = { cell: "cell-0", tables } as unknown as CellGrowthView;
  expect(bloatedTablesOf(cell)).toEqual([
    { cell: "cell-0", name: "instance_live", dead: "200,000", live: "1,000" },
  ]);
});
