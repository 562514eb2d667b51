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

/** Draws a chart on a canvas, and again when its data or the theme changes. */
export function Canvas({ label, height, draw, onPick }: ChartProps) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  const dark = useDark();
  useEffect(() => {
    const box = container.current as HTMLDivElement;
    const created = init(box);
    chart.current = created;
    created.on("click", (event) => pick.current?.(event.dataIndex));
    const observer = new ResizeObserver(() => created.resize());
    observer.observe(box);
    return () => {
      observer.disconnect();
      created.dispose();
    };
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours change with the theme
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
  return <div ref={container} role="img" aria-label={label} style={{ height }} />;
}
