import { BarChart, HeatmapChart, LineChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { type EChartsType, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import { useDark } from "../../app/theme/appearance";
import type { ChartProps } from "./Chart";

use([
  BarChart,
  CanvasRenderer,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  TooltipComponent,
  VisualMapComponent,
]);

/** Draws on a canvas, anew when what is drawn or the appearance changes. */
export function Canvas({ label, height, draw }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  const dark = useDark();
  useEffect(() => {
    const box = place.current as HTMLDivElement;
    const made = init(box);
    chart.current = made;
    const watch = new ResizeObserver(() => made.resize());
    watch.observe(box);
    return () => {
      watch.disconnect();
      made.dispose();
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the appearance
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
    chart.current?.setOption(
      {
        animation: false,
        textStyle: { color: colour("soft"), fontFamily: "inherit" },
        ...draw(colour),
      },
      true,
    );
  }, [draw, dark]);
  return <div ref={place} role="img" aria-label={label} style={{ height }} />;
}
