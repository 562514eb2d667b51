import { offset } from "../../../parts/times";

/** An instant at which the UTC offset of a zone changes. */
export interface ClockChange {
  at: string;
  before: string;
  after: string;
  forward: boolean;
}

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

/** Returns the clock changes of the next year, from the browser's time zone data. */
export function clockChanges(zone: string, from: number, days = 366): ClockChange[] {
  const found: ClockChange[] = [];
  for (let at = from; at < from + days * DAY_MS; at += DAY_MS) {
    const [before, after] = [offset(new Date(at), zone), offset(new Date(at + DAY_MS), zone)];
    if (before !== after)
      found.push({
        at: findChange(zone, at, at + DAY_MS),
        before,
        after,
        forward: minutesOf(after) > minutesOf(before),
      });
  }
  return found;
}

function findChange(zone: string, early: number, late: number): string {
  const before = offset(new Date(early), zone);
  let [low, high] = [early, late];
  while (high - low > MINUTE_MS) {
    const middle = Math.floor((low + high) / 2 / MINUTE_MS) * MINUTE_MS;
    if (middle <= low) break;
    if (offset(new Date(middle), zone) === before) low = middle;
    else high = middle;
  }
  return new Date(Math.floor(high / MINUTE_MS) * MINUTE_MS).toISOString();
}

function minutesOf(offsetText: string): number {
  const [hours = 0, rest = 0] = offsetText.slice(1).split(":").map(Number);
  return (offsetText.startsWith("-") ? -1 : 1) * (hours * 60 + rest);
}
