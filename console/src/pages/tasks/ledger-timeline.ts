import type { DecisionView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** A decision on the timeline: the time of the decision, the requested time, and whether it still holds. */
export interface TimelineEntry extends DecisionView {
  generation: number;
  from: number;
  to: number | null;
  holds: boolean;
  tone: Tone;
}

export interface LedgerTimeline {
  entries: TimelineEntry[];
  now: number;
  begin: number;
  end: number;
}

const TONES: Record<DecisionView["decision"], Tone> = {
  created: "busy",
  moved: "busy",
  replaced: "warn",
  ignored: "idle",
  cancelled: "bad",
  replayed: "busy",
};

/** Returns the ledger as a timeline with positions in per cent. `last` is the number of the last generation. */
export function timelineOf(decisions: DecisionView[], last: number, now: number): LedgerTimeline {
  const times = decisions.flatMap((each) => [each.on, each.at].filter(Boolean) as string[]).map(Date.parse);
  const begin = Math.min(now, ...times);
  const end = Math.max(now, ...times);
  const place = (time: number) => (end === begin ? 50 : ((time - begin) / (end - begin)) * 100);
  let generation = last - decisions.filter((each) => each.decision === "created").length;
  const entries = decisions.map((each, index): TimelineEntry => {
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
  return { entries, now: place(now), begin, end };
}
