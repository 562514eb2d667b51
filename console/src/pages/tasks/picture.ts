import type { DecisionView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** One line of a key's ledger, as the API tells it. */
export type Decided = DecisionView;

/** A decision in the picture: where it was taken, which time it named, and whether that time still counts. */
export interface Stroke extends Decided {
  generation: number;
  from: number;
  to: number | null;
  holds: boolean;
  tone: Tone;
}

export interface Picture {
  strokes: Stroke[];
  now: number;
  begin: number;
  end: number;
}

const TONES: Record<Decided["decision"], Tone> = {
  created: "busy",
  moved: "busy",
  replaced: "warn",
  ignored: "idle",
  cancelled: "bad",
  replayed: "busy",
};

/** The ledger as strokes over one stretch of time, in parts of a hundred. The last generation is the one told. */
export function picture(decisions: Decided[], last: number, now: number): Picture {
  const times = decisions.flatMap((each) => [each.on, each.at].filter(Boolean) as string[]).map(Date.parse);
  const begin = Math.min(now, ...times);
  const end = Math.max(now, ...times);
  const place = (time: number) => (end === begin ? 50 : ((time - begin) / (end - begin)) * 100);
  let generation = last - decisions.filter((each) => each.decision === "created").length;
  const strokes = decisions.map((each, index): Stroke => {
    if (each.decision === "created") generation += 1;
    return {
      ...each,
      generation: Math.max(1, generation),
      from: place(Date.parse(each.on)),
      to: each.at ? place(Date.parse(each.at)) : null,
      holds: !decisions.slice(index + 1).some((later) => later.decision !== "ignored"),
      tone: TONES[each.decision],
    };
  });
  return { strokes, now: place(now), begin, end };
}
