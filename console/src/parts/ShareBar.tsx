import type { Tone } from "./tones";
import "./share-bar.css";

/** A share of a whole as a bar below its text; the text alone says everything. */
export function ShareBar({ share, tone, text }: { share: number; tone: Tone; text: string }) {
  const percent = Math.min(100, Math.max(0, share * 100));
  return (
    <span className={`share tone-${tone}`}>
      <span>{text}</span>
      <span className="share-bar" aria-hidden>
        <span style={{ width: `${percent}%` }} />
      </span>
    </span>
  );
}
