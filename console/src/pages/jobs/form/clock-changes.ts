import { offset } from "../../../parts/times";

/** An instant at which the clocks of a zone are moved. */
export interface ClockChange {
  at: string;
  before: string;
  after: string;
  forward: boolean;
}

const DAY = 86_400_000;
const MINUTE = 60_000;

/** The changes of the coming year, from what the browser knows of the zone. */
export function clockChanges(zone: string, from: number, days = 366): ClockChange[] {
  const found: ClockChange[] = [];
  for (let at = from; at < from + days * DAY; at += DAY) {
    const [before, after] = [offset(new Date(at), zone), offset(new Date(at + DAY), zone)];
    if (before !== after)
      found.push({ at: when(zone, at, at + DAY), before, after, forward: minutes(after) > minutes(before) });
  }
  return found;
}

function when(zone: string, early: number, late: number): string {
  const before = offset(new Date(early), zone);
  let [low, high] = [early, late];
  while (high - low > MINUTE) {
    const middle = Math.floor((low + high) / 2 / MINUTE) * MINUTE;
    if (middle <= low) break;
    if (offset(new Date(middle), zone) === before) low = middle;
    else high = middle;
  }
  return new Date(Math.floor(high / MINUTE) * MINUTE).toISOString();
}

function minutes(told: string): number {
  const [hours = 0, rest = 0] = told.slice(1).split(":").map(Number);
  return (told.startsWith("-") ? -1 : 1) * (hours * 60 + rest);
}
