import type { EChartsOption } from "echarts";
import { clockTime, dateTime } from "../times";
import type { Colours } from "./Chart";

/** One line or one kind of bar: its name, its colour, its numbers. */
export interface Strand {
  name: string;
  colour: string;
  values: number[];
}

/** What the pictures over time have in common: the times below, few lines, a tooltip without any markup. */
export function overTime(times: string[], kind: "line" | "bar", strands: Strand[], unit: string) {
  return (colour: Colours): EChartsOption => ({
    grid: { left: 4, right: 8, top: strands.length > 1 ? 30 : 10, bottom: 4, containLabel: true },
    legend:
      strands.length > 1
        ? {
            top: 0,
            left: 0,
            itemWidth: 10,
            itemHeight: 10,
            icon: "rect",
            textStyle: { color: colour("soft") },
          }
        : undefined,
    tooltip: {
      trigger: "axis",
      renderMode: "richText", // the other mode writes styles into the page, which its policy forbids
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("text") },
      formatter: (shown) => said(times, shown as Shown[], unit),
    },
    xAxis: {
      type: "category",
      data: times,
      axisLabel: { color: colour("soft"), formatter: (at: string) => clockTime(at), hideOverlap: true },
      axisLine: { lineStyle: { color: colour("line-strong") } },
      axisTick: { show: false },
    },
    yAxis: {
      type: "value",
      minInterval: 1,
      axisLabel: { color: colour("soft") },
      splitLine: { lineStyle: { color: colour("line") } },
      splitNumber: 3,
    },
    series: strands.map((strand) => ({
      type: kind,
      name: strand.name,
      stack: kind === "bar" ? "all" : undefined,
      data: strand.values,
      showSymbol: false,
      barCategoryGap: "15%",
      lineStyle: { width: 1.5 },
      itemStyle: { color: colour(strand.colour) },
    })),
  });
}

interface Shown {
  dataIndex: number;
  seriesName?: string;
  value?: unknown;
}

function said(times: string[], shown: Shown[], unit: string): string {
  const at = times[shown[0]?.dataIndex ?? 0] ?? "";
  const lines = shown.map((one) =>
    `${one.seriesName}: ${Number(one.value).toLocaleString()} ${unit}`.trimEnd(),
  );
  return [dateTime(at).slice(0, 16), ...lines].join("\n");
}
