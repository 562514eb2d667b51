import { expect, test } from "vitest";
import type { CellGrowthView, HealthSeriesView } from "../../api/generated/models";
import { fireRatesOf, fullOn, loadShare, partLoadsOf, planCommand } from "./load";

const series = (...fires: number[]) =>
  ({
    stepSeconds: 300,
    points: fires.map((one, number) => ({ at: `2030-01-01T00:0${number}:00Z`, fires: one })),
  }) as HealthSeriesView;

test("the peak is the busiest span, the mean that of all spans", () => {
  expect(fireRatesOf(series(300, 1500, 0))).toEqual({ peak: 5, peakAt: "2030-01-01T00:01:00Z", mean: 2 });
  expect(fireRatesOf(series())).toEqual({ peak: 0, peakAt: null, mean: 0 });
});

test("parts bear a share of what was measured, together", () => {
  const measured = {
    cell_fires_per_s: 1000,
    cell_source: "a at 1",
    node_fires_per_s: 500,
    node_source: "b at 2",
    cell_jobs: 9,
    jobs_source: "c",
    max_load_share: 0.7,
  };
  const [cells, nodes] = partLoadsOf(measured, 2, 0);
  expect([cells?.bears, nodes?.bears]).toEqual([1400, 0]);
  expect(cells && loadShare(700, cells)).toBe(0.5);
  expect(nodes && loadShare(700, nodes)).toBe(1);
});

test("a disk is full on the day of the measurement and so many days", () => {
  const cell = (days_until_full: number | null) =>
    ({ measured_at: "2030-02-27T23:59:00Z", days_until_full }) as CellGrowthView;
  expect(fullOn(cell(2))).toBe("2030-03-01");
  expect(fullOn(cell(null))).toBeNull();
});

test("the plan is for the rates of the last day", () => {
  expect(planCommand(7, { peak: 5.123, peakAt: null, mean: 0 })).toBe(
    "horae capacity --jobs 7 --fires 0.01 --peak 5.12",
  );
});
