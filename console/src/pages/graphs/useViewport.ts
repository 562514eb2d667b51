import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Area } from "./layout";

/** Scrolling by less than this renders nothing anew. */
const STEP_PX = 256;
/** What is rendered around the visible part. */
const AROUND_PX = 320;

export interface Viewport {
  ref: RefObject<HTMLDivElement | null>;
  /** The part of the drawing to render: what is visible, and some room around it. */
  area: Area;
  onScroll: () => void;
  /** Scrolls until an area is visible. */
  show: (area: Area) => void;
}

const rounded = (pixels: number): number => Math.floor(pixels / STEP_PX) * STEP_PX;

/** Follows the visible part of an element that scrolls. */
export function useViewport(): Viewport {
  const ref = useRef<HTMLDivElement>(null);
  const [area, setArea] = useState<Area>({ left: 0, top: 0, right: 2_000, bottom: 1_000 });
  const look = useCallback(() => {
    const box = ref.current;
    if (!box) return;
    const left = rounded(box.scrollLeft);
    const top = rounded(box.scrollTop);
    const next = {
      left: left - AROUND_PX,
      top: top - AROUND_PX,
      right: left + rounded(box.clientWidth) + 2 * STEP_PX + AROUND_PX,
      bottom: top + rounded(box.clientHeight) + 2 * STEP_PX + AROUND_PX,
    };
    setArea((known) => (JSON.stringify(known) === JSON.stringify(next) ? known : next));
  }, []);
  useLayoutEffect(() => {
    look();
    const box = ref.current;
    if (!box) return;
    const observer = new ResizeObserver(look);
    observer.observe(box);
    return () => observer.disconnect();
  }, [look]);
  const show = useCallback((wanted: Area) => {
    const box = ref.current;
    if (!box) return;
    const x = scrolled(box.scrollLeft, box.clientWidth, wanted.left, wanted.right);
    const y = scrolled(box.scrollTop, box.clientHeight, wanted.top, wanted.bottom);
    box.scrollTo({ left: x, top: y });
  }, []);
  return { ref, area, onScroll: look, show };
}

/** Returns where to scroll so that a stretch is visible: nowhere if it is, else so that it stands in the middle. */
function scrolled(at: number, room: number, from: number, to: number): number {
  return from >= at && to <= at + room ? at : Math.max(0, (from + to - room) / 2);
}
