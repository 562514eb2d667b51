import type { HealthFigure } from "../../app/health/summary";

/** Where the rows are that a figure counts; the delay has none: it is a share of all. */
export const FIGURE_LINKS: Partial<
  Record<HealthFigure["name"], { to: string; search: Record<string, unknown> }>
> = {
  rate: { to: "/instances", search: { state: ["DEAD", "FAIL"] } },
  fires: { to: "/instances", search: { order: "fire_time" } },
  retries: { to: "/instances", search: { state: ["FAIL"] } },
  backlog: { to: "/instances", search: { state: ["INIT"] } },
  deadLetters: { to: "/dead-letters", search: { status: "OPEN" } },
};
