/** The chart of the bytes of each day of a cell. */
import type { EChartsOption } from "echarts";
import type { DaySizeView } from "../../api/generated/models";
import type { Colours } from "../../parts/charts/Chart";
import { size } from "../../parts/sizes";

export function growthChartOf(days: DaySizeView[]) {
  return (colour: Colours): EChartsOption => ({
    grid: { left: 4, right: 8, top: 10, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "axis",
      renderMode: "richText", // the HTML mode writes inline styles, which the content security policy forbids
      backgroundColor: colour("raised"),
      borderColor: colour("line-strong"),
      textStyle: { color: colour("text") },
      valueFormatter: (bytes) => size(Number(bytes)),
    },
    xAxis: {
      type: "category",
      data: days.map((one) => one.day),
      axisLabel: { color: colour("soft"), hideOverlap: true },
      axisLine: { lineStyle: { color: colour("line-strong") } },
      axisTick: { show: false },
    },
    yAxis: {
      type: "value",
      axisLabel: { color: colour("soft"), formatter: (bytes: number) => size(bytes) },
      splitLine: { lineStyle: { color: colour("line") } },
      splitNumber: 3,
    },
    series: [
      {
        type: "bar",
        data: days.map((one) => one.bytes),
        itemStyle: { color: colour("busy") },
        barMaxWidth: 28,
      },
    ],
  });
}
