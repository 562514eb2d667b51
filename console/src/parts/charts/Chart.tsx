import type { EChartsOption } from "echarts";
import { lazy, Suspense } from "react";

/** Colours of the page, for those who draw. */
export type Colours = (name: string) => string;

/** A picture of numbers, and the sentence that says the same to who cannot see it. */
export interface ChartProps {
  label: string;
  height: number;
  draw: (colour: Colours) => EChartsOption;
}

const Canvas = lazy(async () => ({ default: (await import("./Canvas")).Canvas }));

/** The library that draws is loaded after the page is there; its place is kept free meanwhile. */
export function Chart(props: ChartProps) {
  return (
    <div style={{ height: props.height }}>
      <Suspense>
        <Canvas {...props} />
      </Suspense>
    </div>
  );
}
