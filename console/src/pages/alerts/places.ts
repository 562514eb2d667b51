import type { AlertView } from "../../api/generated/models";
import type words from "../../words/en/pages/alerts";
import type { Kind } from "./kinds";

/** A page that shows what an alert is about. A page of jobs is narrowed to the job of the alert. */
interface Place {
  to: string;
  text: keyof typeof words.places;
  search?: Record<string, string>;
  hash?: string;
}

const RUNS = { to: "/instances", text: "runs" } as const;
const OVERVIEW = { to: "/", text: "overview" } as const;
const CLUSTER = { to: "/", text: "cluster", hash: "cluster" } as const;
const SOURCES = { to: "/sources", text: "sources" } as const;

const PLACES: Record<Kind, Place> = {
  dead_letter: { to: "/dead-letters", text: "deadLetters" },
  failures_in_a_row: RUNS,
  late: RUNS,
  missed: RUNS,
  no_success: RUNS,
  queue_unpolled: { to: "/workers", text: "workers" },
  source_pending_dead: SOURCES,
  breaker_open: OVERVIEW,
  source_drift: SOURCES,
  rolling_coverage: { to: "/rolling", text: "rolling" },
  intake_stuck: { to: "/events", text: "events" },
  trigger_delay_p95: OVERVIEW,
  run_success_rate_10m: OVERVIEW,
  retry_backlog: OVERVIEW,
  dlq_growth_rate: OVERVIEW,
  node_stuck: CLUSTER,
  cell_down: CLUSTER,
  clock_untrusted: CLUSTER,
  partition_missing: CLUSTER,
  archive_behind: CLUSTER,
  error_budget_burning: OVERVIEW,
};

/** Returns where to look first for an alert. */
export function placeOf(alert: Pick<AlertView, "kind" | "job">): Place {
  const place = PLACES[alert.kind];
  const isOfJob = place.to === "/dead-letters" || place.to === "/instances";
  return alert.job !== null && isOfJob ? { ...place, search: { job: alert.job } } : place;
}
