/** How near a tenant is to its limits, and where the rows are that a limit counts. */
import type {
  HoldView,
  LimitSpec,
  LimitUseView,
  TenantUsageView,
  UsageKind,
} from "../../api/generated/models";
import { size } from "../../parts/sizes";
import type { Tone } from "../../parts/tones";
import type { State } from "../instances/filters";

/** Returns the used part of a limit: 1 is all of it. A limit of zero is used up as soon as something is there. */
export const shareOf = ({ used, most }: LimitUseView): number => (most > 0 ? used / most : used > 0 ? 1 : 0);

/** Returns how a use is marked: reached, near, or neither. */
export function toneOfUse(use: LimitUseView): Tone {
  if (use.used > 0 && use.used >= use.most) return "bad";
  return use.near ? "warn" : "good";
}

/** Returns a figure as people read it: bytes with their unit, numbers with separators. */
export const figureOf = (kind: UsageKind, figure: number): string =>
  kind === "log_bytes" ? size(figure) : figure.toLocaleString("en");

/** Returns the percentage, rounded down, so that 100 % means that nothing is left; more than 999 % is cut. */
export const percentOf = (use: LimitUseView): number => Math.min(999, Math.floor(shareOf(use) * 100));

interface Place {
  to: string;
  search?: Record<string, unknown>;
  hash?: string;
}

/** The page with the rows that a limit counts; the others have none. */
export const PLACES: Partial<Record<UsageKind, Place>> = {
  jobs: { to: "/jobs" },
  subscriptions: { to: "/events" },
  intakes: { to: "/events" },
  sources: { to: "/sources" },
  secrets: { to: "/secrets" },
  calendars: { to: "/calendars" },
  keys: { to: "/tenants", hash: "keys" },
  bindings: { to: "/tenants", hash: "bindings" },
  alert_channels: { to: "/alerts/channels" },
  alert_rules: { to: "/alerts/rules" },
  silences: { to: "/alerts/silences" },
  permits: { to: "/instances", search: { state: ["RUNNING"] } },
};

const STATES_OF_LANE: Record<HoldView["lane"], State[]> = {
  first: ["INIT"],
  retry: ["FAIL"],
  any: ["INIT", "FAIL"],
};

/** Returns the filter of the instances that a hold keeps waiting: those of its job, or of the whole tenant. */
export function waitingFilter(hold: HoldView): { job?: string; state: State[] } {
  const job = hold.kind === "limit" && hold.name.startsWith("job/") ? hold.name.slice(4) : undefined;
  return { job, state: STATES_OF_LANE[hold.lane] };
}

/** A limit of calls with its name: of all calls, or a quota. */
export interface NamedLimit {
  key: string;
  limit: LimitSpec;
}

/** Returns the limits of calls of a tenant: of all its calls first, then its quotas by name. */
export function callLimitsOf(
  limit: LimitSpec | null | undefined,
  quotas: Record<string, LimitSpec>,
): NamedLimit[] {
  const own = limit && (limit.rate || limit.concurrency) ? [{ key: "tenant", limit }] : [];
  const named = Object.entries(quotas).map(([name, one]) => ({ key: `quota/${name}`, limit: one }));
  return [...own, ...named.sort((one, other) => one.key.localeCompare(other.key))];
}

/** Returns the tenants that use something of a limit, the nearest to a limit first. */
export const nearestFirst = (tenants: TenantUsageView[]): TenantUsageView[] =>
  tenants.filter((one) => nearestUseOf(one)).sort((one, other) => nearestShare(other) - nearestShare(one));

/** Returns the use of a tenant that is nearest to its limit; undefined if it uses nothing. */
export const nearestUseOf = (tenant: TenantUsageView): LimitUseView | undefined =>
  tenant.uses.find((use) => use.used > 0);

const nearestShare = (tenant: TenantUsageView): number => {
  const nearest = nearestUseOf(tenant);
  return nearest ? shareOf(nearest) : 0;
};
