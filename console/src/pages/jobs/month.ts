import type { ComingFire } from "../../api/generated/models";
import { dateTime } from "../../parts/times";

/** A day of a month's calendar: its date and its fires. */
export interface Day {
  date: string;
  inside: boolean;
  fires: ComingFire[];
}

const DAY_MS = 86_400_000;

/** Returns the days of the weeks of a month (`2026-11`), from Monday on, with the fires of each day in a zone. */
export function calendarDays(name: string, fires: ComingFire[], zone: string): Day[] {
  const byDay = Map.groupBy(fires, (fire) => dateTime(fire.fire_time, zone).slice(0, 10));
  const first = Date.parse(`${name}-01T00:00:00Z`);
  const begin = first - ((new Date(first).getUTCDay() + 6) % 7) * DAY_MS;
  const days: Day[] = [];
  for (let at = begin; at <= first || !isEnd(at, name); at += DAY_MS) {
    const date = new Date(at).toISOString().slice(0, 10);
    days.push({ date, inside: date.startsWith(name), fires: byDay.get(date) ?? [] });
  }
  return days;
}

/** Whether a week begins after the month. */
function isEnd(at: number, name: string): boolean {
  const day = new Date(at);
  return day.getUTCDay() === 1 && day.toISOString().slice(0, 7) > name;
}

/** Returns the month `by` months later, or earlier if negative. */
export function addMonths(name: string, by: number): string {
  const [year, number] = name.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}
