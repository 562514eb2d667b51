import type { ComingFire } from "../../api/generated/models";
import { dateTime } from "../../parts/times";

/** A day of a month's calendar: its date, and the fires that are known to lie on it. */
export interface Day {
  date: string;
  inside: boolean;
  fires: ComingFire[];
}

const DAY = 86_400_000;

/** The weeks of a month (`2026-11`), from Monday on, with the fires on the days of a zone. */
export function month(name: string, fires: ComingFire[], zone: string): Day[] {
  const byDay = Map.groupBy(fires, (fire) => dateTime(fire.fire_time, zone).slice(0, 10));
  const first = Date.parse(`${name}-01T00:00:00Z`);
  const begin = first - ((new Date(first).getUTCDay() + 6) % 7) * DAY;
  const days: Day[] = [];
  for (let at = begin; at <= first || !isEnd(at, name); at += DAY) {
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

/** The month after or before. */
export function turned(name: string, by: number): string {
  const [year, number] = name.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 7);
}
