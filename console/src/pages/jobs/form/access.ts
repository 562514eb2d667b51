/** The part of the form for auth, signing, limits and calendars. */
import type { JobView } from "../../../api/generated/models";
import { omitDefaults } from "./defaults";

/** The fields of each kind of auth. A secret is given by its name; the console never holds its value. */
export const AUTHS = {
  bearer: ["token"],
  basic: ["username", "password"],
  mtls: ["certificate"],
  oauth: ["token_url", "client_id", "client_secret", "scope", "audience"],
} as const;
export type AuthKind = keyof typeof AUTHS;
export type AuthFact = (typeof AUTHS)[AuthKind][number];
export const AUTH_KINDS = Object.keys(AUTHS) as AuthKind[];

export interface Access {
  auth: "" | AuthKind;
  authFacts: Partial<Record<AuthFact, string>>;
  signing: string;
  targetRate: number | null;
  targetMost: number | null;
  limitRate: number | null;
  limitBurst: number | null;
  limitMost: number | null;
  quotas: string;
  onlyOn: string;
  neverOn: string;
}

export const NO_ACCESS: Access = {
  auth: "",
  authFacts: {},
  signing: "",
  targetRate: null,
  targetMost: null,
  limitRate: null,
  limitBurst: null,
  limitMost: null,
  quotas: "",
  onlyOn: "",
  neverOn: "",
};

type JsonObject = Record<string, unknown>;
interface CalendarRule {
  calendar: string;
  mode?: string;
}

export function accessOf(job: JobView): Access {
  const target: JsonObject = { ...job.target };
  const { kind, ...facts } = (target.auth ?? { kind: "" }) as { kind: Access["auth"] };
  const rules: CalendarRule[] = job.policies.calendars ?? [];
  const calendarNames = (included: boolean) =>
    rules.filter((one) => (one.mode !== "exclude") === included).map((one) => one.calendar);
  return {
    auth: kind,
    authFacts: facts,
    signing: typeof target.signing === "string" ? target.signing : "",
    targetRate: numberOrNull(target.rate),
    targetMost: numberOrNull(target.max_concurrency),
    limitRate: numberOrNull(job.limit?.rate),
    limitBurst: numberOrNull(job.limit?.burst),
    limitMost: numberOrNull(job.limit?.concurrency),
    quotas: (job.quotas ?? []).join("\n"),
    onlyOn: calendarNames(true).join("\n"),
    neverOn: calendarNames(false).join("\n"),
  };
}

/** The rate and the concurrency limit of a target. */
export const rateLimitsOf = (access: Access): JsonObject => ({
  rate: access.targetRate,
  max_concurrency: access.targetMost,
});

export function authOf({ auth, authFacts }: Access): JsonObject | null {
  if (!auth) return null;
  const fields = AUTHS[auth].flatMap((name): [string, string][] =>
    authFacts[name] ? [[name, authFacts[name]]] : [],
  );
  return { kind: auth, ...Object.fromEntries(fields) };
}

export function limitOf({ limitRate, limitBurst, limitMost }: Access): JsonObject | null {
  const fields = omitDefaults(
    { rate: limitRate, burst: limitBurst, concurrency: limitMost },
    { rate: null, burst: null, concurrency: null },
  );
  return Object.keys(fields).length > 0 ? fields : null;
}

/** `include` is the default mode of a calendar and is left out. */
export function calendarsOf({ onlyOn, neverOn }: Access): CalendarRule[] {
  return [
    ...splitLines(onlyOn).map((calendar) => ({ calendar })),
    ...splitLines(neverOn).map((calendar) => ({ calendar, mode: "exclude" })),
  ];
}

export const splitLines = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || []);

const numberOrNull = (value: unknown): number | null => (typeof value === "number" ? value : null);
