import type { MouseEvent } from "react";
import type { Tone } from "../../parts/tones";
import { type Area, BOX, type Layout } from "./layout";

/** Smaller graphs are seen as a whole anyway. */
const MIN_STEPS = 25;

/** The whole graph in small, with one shape for each colour; a click shows that place. The keyboard has the drawing. */
export function GraphMap({ layout, toneOf, area, onShow }: GraphMapProps) {
  if (layout.steps.length < MIN_STEPS) return null;
  const shapes = new Map<Tone, string>();
  for (const step of layout.steps) {
    const tone = toneOf(step.name);
    const shape = `M${step.x} ${step.y}h${BOX.width}v${BOX.height}h${-BOX.width}z`;
    shapes.set(tone, (shapes.get(tone) ?? "") + shape);
  }
  const show = (event: MouseEvent<SVGSVGElement>) => {
    const map = event.currentTarget.getBoundingClientRect();
    const x = ((event.clientX - map.left) / map.width) * layout.width;
    const y = ((event.clientY - map.top) / map.height) * layout.height;
    onShow({ left: x, right: x, top: y, bottom: y });
  };
  return (
    <svg
      className="graph-map"
      viewBox={`0 0 ${layout.width} ${layout.height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
      onClick={show}
    >
      {[...shapes].map(([tone, shape]) => (
        <path key={tone} className={`tone-${tone}`} d={shape} />
      ))}
      <rect
        x={area.left}
        y={area.top}
        width={area.right - area.left}
        height={area.bottom - area.top}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

interface GraphMapProps {
  layout: Layout;
  toneOf: (name: string) => Tone;
  area: Area;
  onShow: (area: Area) => void;
}
