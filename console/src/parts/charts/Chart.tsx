import type { EChartsOption } from "echarts";
import { lazy, Suspense } from "react";

/** Returns a colour of the page by its name. */
export type Colours = (name: string) => string;

/** A chart, and the sentence that describes it for screen readers; `onPick` hears which item was clicked. */
export interface ChartProps {
  label: string;
  height: number;
  draw: (colour: Colours) => EChartsOption;
  onPick?: (index: number) => void;
}

const Canvas = lazy(async () => ({ default: (await import("./Canvas")).Canvas }));

/** A chart. Its library is loaded after the page; its space is reserved until then. */
export function Chart(props: ChartProps) {
  return (
    <div style={{ height: props.height }}>
      <Suspense>
        <Canvas {...props} />
      </Suspense>
    </div>
  );
}
