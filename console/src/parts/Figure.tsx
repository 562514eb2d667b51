import type { ReactNode } from "react";
import type { Tone } from "./tones";
import "./parts.css";

/** A number with its name, in a `dl` of the class `figures`; its tone marks a problem. */
export function Figure({ name, tone, children }: { name: string; tone?: Tone; children: ReactNode }) {
  return (
    <div className={`figure tone-${tone ?? "idle"}`}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
