/** The load of the last day beside what cells and nodes took in benchmarks, and the growth of a cell. */
import type { CellGrowthView, HealthSeriesView, MeasuredCapacityView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

const DAY_MS = 86_400_000;
const NEAR_SHARE = 0.8;

/** The fires a second of the busiest span of a series, when it began, and the mean of all spans. */
export interface FireRates {
  peak: number;
  peakAt: string | null;
  mean: number;
}

export function fireRatesOf({ points, stepSeconds }: HealthSeriesView): FireRates {
  const busiest = points.reduce<HealthSeriesView["points"][number] | null>(
    (most, one) => (one.fires > (most?.fires ?? 0) ? one : most),
    null,
  );
  const all = points.reduce((sum, one) => sum + one.fires, 0);
  const seconds = points.length * stepSeconds;
  return {
    peak: busiest ? busiest.fires / stepSeconds : 0,
    peakAt: busiest?.at ?? null,
    mean: seconds > 0 ? all / seconds : 0,
  };
}

/** One part of the deployment: how many there are, and what they bear together by the benchmarks. */
export interface PartLoad {
  part: "cells" | "nodes";
  count: number;
  each: number;
  bears: number;
  source: string;
}

/** Returns what all cells and all living nodes bear; a plan uses only a share of what was measured. */
export function partLoadsOf(measured: MeasuredCapacityView, cells: number, nodes: number): PartLoad[] {
  const share = measured.max_load_share ?? 1;
  const part = (name: PartLoad["part"], count: number, each: number, source: string): PartLoad => ({
    part: name,
    count,
    each,
    bears: Math.floor(count * each * share),
    source,
  });
  return [
    part("cells", cells, measured.cell_fires_per_s ?? 0, measured.cell_source ?? ""),
    part("nodes", nodes, measured.node_fires_per_s ?? 0, measured.node_source ?? ""),
  ];
}

/** Returns the part of what a part bears that the peak used; 1 where there is none and something fires. */
export const loadShare = (peak: number, load: PartLoad): number =>
  load.bears > 0 ? peak / load.bears : peak > 0 ? 1 : 0;

export const toneOfShare = (share: number): Tone =>
  share >= 1 ? "bad" : share >= NEAR_SHARE ? "warn" : "good";

/** Returns the day on which the disk of a cell is full, by UTC; null if that is unknown or over a year away. */
export function fullOn(cell: CellGrowthView): string | null {
  if (cell.days_until_full === null || cell.days_until_full === undefined) return null;
  return new Date(Date.parse(cell.measured_at) + cell.days_until_full * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the command that plans for the load of the last day. */
export function planCommand(jobs: number | null, rates: FireRates): string {
  const figure = (value: number) => String(Math.max(0.01, Math.round(value * 100) / 100));
  return `horae capacity --jobs ${jobs || "<jobs>"} --fires ${figure(rates.mean)} --peak ${figure(rates.peak)}`;
}
