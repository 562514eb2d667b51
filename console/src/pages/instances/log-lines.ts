import type { StreamEvent } from "../../api/event-stream";
import type { LogLineView } from "../../api/generated/models";
import type { Tone } from "../../parts/tones";

/** The most lines that a page keeps; of a longer log it shows the last ones. */
export const MAX_LINES = 2_000;

/** The log of an instance as far as it was read: its last lines, and the number of older ones that the page dropped. */
export interface LogLines {
  lines: LogLineView[];
  dropped: number;
  isEnded: boolean;
}

export const NO_LINES: LogLines = { lines: [], dropped: 0, isEnded: false };

/** Adds the events of the stream. A line that is known already is not added twice. */
export function addEvents(log: LogLines, events: StreamEvent[], bound = MAX_LINES): LogLines {
  const last = log.lines.at(-1);
  const lines = events
    .filter((event) => event.name === "line" || event.name === "dropped")
    .map((event) => JSON.parse(event.data) as LogLineView)
    .filter((line) => !last || isAfter(line, last));
  const all = lines.length > 0 ? [...log.lines, ...lines] : log.lines;
  const surplus = Math.max(0, all.length - bound);
  return {
    lines: surplus > 0 ? all.slice(surplus) : all,
    dropped: log.dropped + surplus,
    isEnded: log.isEnded || events.some((event) => event.name === "end"),
  };
}

/** Whether a line comes after another. A mark has the number of the line that follows it. */
function isAfter(line: LogLineView, other: LogLineView): boolean {
  if (line.attempt !== other.attempt) return line.attempt > other.attempt;
  if (line.number !== other.number) return line.number > other.number;
  return isMark(other) && !isMark(line);
}

/** Whether it is a mark that lines are missing here. */
export const isMark = (line: LogLineView): boolean => line.text === null || line.text === undefined;

export const keyOf = (line: LogLineView): string =>
  `${line.attempt}.${line.number}${isMark(line) ? " mark" : ""}`;

/** The tone of a level, as logging libraries name levels. */
export function toneOfLevel(level: string | null | undefined): Tone {
  if (/^(error|critical|fatal|severe|alert|emergency)$/i.test(level ?? "")) return "bad";
  return /^warn(ing)?$/i.test(level ?? "") ? "warn" : "idle";
}

/** Whether a box is scrolled to its end, so that it follows new lines. */
export function isAtEnd(box: { scrollTop: number; clientHeight: number; scrollHeight: number }): boolean {
  return box.scrollHeight - box.scrollTop - box.clientHeight < 24;
}
