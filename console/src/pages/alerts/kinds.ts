import type { AlertKind } from "../../api/generated/models";
import type words from "../../words/en/pages/alertSettings";

export type Kind = AlertKind;
export type Unit = keyof typeof words.rules.unit;

/**
 * What a rule of a kind can say, as in `horae/domain/alerts/rules.py`: the default threshold and its unit. A kind
 * without them is about each single case. `perJob`: a rule can select jobs. `platform`: for the tenant `system` only.
 */
interface KindFacts {
  threshold?: number;
  unit?: Unit;
  perJob?: boolean;
  platform?: boolean;
}

export const FACTS: Record<Kind, KindFacts> = {
  dead_letter: { perJob: true },
  failures_in_a_row: { threshold: 3, unit: "runs", perJob: true },
  late: { threshold: 60, unit: "late", perJob: true },
  missed: { perJob: true },
  no_success: { threshold: 86_400, unit: "noSuccess", perJob: true },
  queue_unpolled: { threshold: 60, unit: "seconds" },
  source_pending_dead: { threshold: 1, unit: "tasks" },
  breaker_open: { threshold: 10, unit: "seconds" },
  source_drift: { threshold: 1, unit: "differences" },
  rolling_coverage: { threshold: 0, unit: "seconds" },
  intake_stuck: { threshold: 60, unit: "seconds" },
  trigger_delay_p95: { threshold: 2000, unit: "milliseconds" },
  run_success_rate_10m: { threshold: 0.99, unit: "share" },
  retry_backlog: { threshold: 1000, unit: "instances" },
  dlq_growth_rate: { threshold: 100, unit: "deadLetters" },
  node_stuck: { threshold: 0, unit: "seconds", platform: true },
  cell_down: { threshold: 10, unit: "seconds", platform: true },
  clock_untrusted: { threshold: 0, unit: "seconds", platform: true },
  partition_missing: { threshold: 3, unit: "daysAhead", platform: true },
  archive_behind: { threshold: 1, unit: "days", platform: true },
  error_budget_burning: { threshold: 1, unit: "windows" },
};

export const KINDS = Object.keys(FACTS) as Kind[];

/** The tenant of the platform. */
export const SYSTEM = "system";

/** Returns the kinds that the rules of a tenant can have. */
export const kindsOf = (tenant: string | undefined): Kind[] =>
  KINDS.filter((kind) => tenant === SYSTEM || !FACTS[kind].platform);
