/** The outcome of each day of a year, by its certificate. A date is a text, `2026-11-19`; all days are days in UTC. */
import type { CertifiedDaysView, CertifiedDayView } from "../../api/generated/models";

/** `clean`: certified without findings; `faults`: certified with findings; `open`: the day is not over yet. */
export type DayOutcome = "clean" | "faults" | "missing" | "open";
export const OUTCOMES: readonly DayOutcome[] = ["clean", "faults", "missing", "open"];

/** A day with its certificate, if it has one. */
export interface OutcomeDay {
  date: string;
  outcome: DayOutcome;
  certificate?: CertifiedDayView;
}

/** A month (`2026-11`): its days, and how many days of its first week are before it. */
export interface OutcomeMonth {
  name: string;
  blanks: number;
  days: OutcomeDay[];
}

const DAY_MS = 86_400_000;
const MONTHS = 12;

const startOf = (month: string, by: number): Date => {
  const [year, number] = month.split("-").map(Number) as [number, number];
  return new Date(Date.UTC(year, number - 1 + by, 1));
};

/** Returns the first day of the twelve months that end with a month, and the day after the last one. */
export const rangeOf = (month: string): { since: string; until: string } => ({
  since: startOf(month, 1 - MONTHS)
    .toISOString()
    .slice(0, 10),
  until: startOf(month, 1).toISOString().slice(0, 10),
});

/** Returns the months of a year that ends with a month, with the outcome of each day. */
export function outcomesOf(month: string, found: CertifiedDaysView): OutcomeMonth[] {
  const byDay = new Map(found.days.map((one) => [one.day, one]));
  return Array.from({ length: MONTHS }, (_, index) => {
    const begin = startOf(month, index + 1 - MONTHS);
    const name = begin.toISOString().slice(0, 7);
    const days: OutcomeDay[] = [];
    for (let at = begin.getTime(); new Date(at).toISOString().startsWith(name); at += DAY_MS) {
      const date = new Date(at).toISOString().slice(0, 10);
      const certificate = byDay.get(date);
      days.push({ date, outcome: outcomeOf(date, certificate, found.newest), certificate });
    }
    return { name, blanks: (begin.getUTCDay() + 6) % 7, days };
  });
}

function outcomeOf(date: string, certificate: CertifiedDayView | undefined, newest: string): DayOutcome {
  if (certificate) return certificate.findings_count > 0 ? "faults" : "clean";
  return date > newest ? "open" : "missing";
}

/** Returns how many days have each outcome. */
export function outcomeCounts(months: OutcomeMonth[]): Record<DayOutcome, number> {
  const counts = { clean: 0, faults: 0, missing: 0, open: 0 };
  for (const month of months) for (const day of month.days) counts[day.outcome] += 1;
  return counts;
}
