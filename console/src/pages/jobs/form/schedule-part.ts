import { useEffect, useState } from "react";
import { NO_ACCESS } from "./access";
import type { Draft } from "./draft";

const DEBOUNCE_MS = 600;

/** The part of a draft that decides about the fires: typing in other fields sends no request. */
export function schedulePart(draft: Draft): string {
  const { name, kind, expression, dialect, zone, dstGap, dstOverlap, every, at, seconds } = draft;
  const rest = { target: "queue", queue: "", url: "", headers: "", labels: "", payload: "" };
  const { onlyOn, neverOn } = draft;
  return JSON.stringify({
    ...draft,
    ...rest,
    ...NO_ACCESS,
    onlyOn,
    neverOn,
    name: name || "job",
    kind,
    expression,
    dialect,
    zone,
    dstGap,
    dstOverlap,
    every,
    at,
    seconds,
  });
}

/** Returns a value once it has not changed for a moment. */
export function useDebounced(value: string): string {
  const [debounced, setDebounced] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return debounced;
}
