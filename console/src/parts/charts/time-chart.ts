import type { EChartsOption } from "echarts";
import { clockTime, dateTime } from "../times";
import type { Colours } from "./Chart";

/** A series of a chart: name, colour and values. */
export interface ChartSeries {
  name: string;
  colour: string;
  values: number[];
}

/** Returns the options of a chart over time: time axis, series, and a tooltip without markup. */
export function timeChartOf(times: string[], kind: "line" | "bar", series: ChartSeries[], unit: string) {
  return (colour: Colours): EChartsOption => ({
    grid: { left: 4, right: 8, top: series.length > 1 ? 30 : 10, bottom: 4, containLabel: true },
    legend:
      series.length > 1
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
      renderMode: "richText", // the HTML mode writes inline styles, which the content security policy forbids
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("text") },
      formatter: (points) => tooltipText(times, points as TooltipPoint[], unit),
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
    series: series.map((one) => ({
      type: kind,
      name: one.name,
      stack: kind === "bar" ? "all" : undefined,
      data: one.values,
      showSymbol: false,
      barCategoryGap: "15%",
      lineStyle: { width: 1.5 },
      itemStyle: { color: colour(one.colour) },
    })),
  });
}

interface TooltipPoint {
  dataIndex: number;
  seriesName?: string;
  value?: unknown;
}

function tooltipText(times: string[], points: TooltipPoint[], unit: string): string {
  const at = times[points[0]?.dataIndex ?? 0] ?? "";
  const lines = points.map((point) =>
    `${point.seriesName}: ${Number(point.value).toLocaleString()} ${unit}`.trimEnd(),
  );
  return [dateTime(at).slice(0, 16), ...lines].join("\n");
}
