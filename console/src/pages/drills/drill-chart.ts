/** The chart of drills: RTO or RPO over time, a line for each kind of drill. */
import type { EChartsOption } from "echarts";
import type { DrillKind, DrillView } from "../../api/generated/models";
import type { Colours } from "../../parts/charts/Chart";
import { dateTime, secondsText } from "../../parts/times";

export type Measure = "rto_s" | "rpo_s";

/** Colour and symbol of each kind: the symbol tells lines apart without their colour. */
const LOOKS = {
  "node-loss": ["busy", "circle"],
  "primary-loss": ["warn", "triangle"],
  "outage-of-targets": ["good", "rect"],
  restore: ["soft", "diamond"],
  "cell-loss": ["bad", "roundRect"],
} as const satisfies Record<DrillKind, [colour: string, symbol: string]>;

/** The least RTO on its axis: a logarithmic axis has no zero. */
const LEAST_RTO_S = 0.1;

/** An RTO is seconds for one kind and half an hour for another, so its axis is logarithmic. An RPO is often zero. */
const SCALES = {
  rto_s: { type: "log" },
  rpo_s: { type: "value", min: 0, minInterval: 1 },
} as const;

/** A line of the chart: the measured times of one kind, oldest first. */
export interface KindLine {
  kind: DrillKind;
  points: [endedAt: string, seconds: number][];
}

/** Returns a line for each kind of drill that was measured. A drill without the figure is left out. */
export function kindLinesOf(drills: DrillView[], measure: Measure): KindLine[] {
  const kinds = Object.keys(LOOKS) as DrillKind[];
  const lines = kinds.map((kind) => ({ kind, points: pointsOf(drills, kind, measure) }));
  return lines.filter((line) => line.points.length > 0);
}

function pointsOf(drills: DrillView[], kind: DrillKind, measure: Measure): KindLine["points"] {
  return drills
    .flatMap((drill): KindLine["points"] => {
      const seconds = drill[measure];
      return drill.kind === kind && typeof seconds === "number" ? [[drill.ended_at, seconds]] : [];
    })
    .sort(([one], [other]) => Date.parse(one) - Date.parse(other));
}

/** Returns the largest figure of the drills; null if none was measured. */
export function maximumOf(drills: DrillView[], measure: Measure): number | null {
  const all = drills.map((drill) => drill[measure]).filter((seconds) => typeof seconds === "number");
  return all.length > 0 ? Math.max(...all) : null;
}

export function drillChartOf(drills: DrillView[], measure: Measure, nameOf: (kind: DrillKind) => string) {
  return (colour: Colours): EChartsOption => ({
    grid: { left: 4, right: 16, top: 34, bottom: 4, containLabel: true },
    legend: {
      type: "plain",
      top: 0,
      left: 0,
      itemWidth: 14,
      itemHeight: 8,
      textStyle: { color: colour("soft") },
    },
    tooltip: {
      trigger: "item",
      renderMode: "richText", // the HTML mode writes inline styles, which the content security policy forbids
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("text") },
      formatter: (point) => tooltipText(point as TooltipPoint),
    },
    xAxis: {
      type: "time",
      minInterval: 86_400_000, // a label for each day at most
      axisLabel: {
        color: colour("soft"),
        formatter: (at: number) => dateTime(new Date(at)).slice(0, 10),
        hideOverlap: true,
      },
      axisLine: { lineStyle: { color: colour("line-strong") } },
      axisTick: { show: false },
      splitLine: { show: false },
    },
    yAxis: {
      ...SCALES[measure],
      axisLabel: { color: colour("soft"), formatter: secondsText },
      splitLine: { lineStyle: { color: colour("line") } },
      splitNumber: 3,
    },
    series: kindLinesOf(drills, measure).map(({ kind, points }) => ({
      type: "line",
      name: nameOf(kind),
      data: points.map(([at, seconds]) => [
        at,
        measure === "rto_s" ? Math.max(seconds, LEAST_RTO_S) : seconds,
      ]),
      symbol: LOOKS[kind][1],
      symbolSize: 9,
      lineStyle: { width: 1.5 },
      itemStyle: { color: colour(LOOKS[kind][0]) },
    })),
  });
}

interface TooltipPoint {
  seriesName?: string;
  value?: unknown;
}

function tooltipText({ seriesName, value }: TooltipPoint): string {
  const [at, seconds] = value as [string, number];
  return `${seriesName}\n${dateTime(at).slice(0, 16)}: ${secondsText(seconds)}`;
}
