/** The part of the form about how a target is reached, and how much at once: auth, signing, limits, calendars. */
import type { JobView } from "../../../api/generated/models";
import { plain } from "./plain";

/** What each kind of auth is told; secrets are named, never held. */
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

type Told = Record<string, unknown>;
interface Rule {
  calendar: string;
  mode?: string;
}

export function accessOf(job: JobView): Access {
  const target = job.target as Told;
  const { kind, ...facts } = (target.auth ?? { kind: "" }) as { kind: Access["auth"] };
  const rules = (job.policies.calendars ?? []) as Rule[];
  const named = (included: boolean) =>
    rules.filter((one) => (one.mode !== "exclude") === included).map((one) => one.calendar);
  return {
    auth: kind,
    authFacts: facts,
    signing: typeof target.signing === "string" ? target.signing : "",
    targetRate: number(target.rate),
    targetMost: number(target.max_concurrency),
    limitRate: number(job.limit?.rate),
    limitBurst: number(job.limit?.burst),
    limitMost: number(job.limit?.concurrency),
    quotas: (job.quotas ?? []).join("\n"),
    onlyOn: named(true).join("\n"),
    neverOn: named(false).join("\n"),
  };
}

/** How fast a target is called, and by how many at once. */
export const paceOf = (access: Access): Told => ({
  rate: access.targetRate,
  max_concurrency: access.targetMost,
});

export function authOf({ auth, authFacts }: Access): Told | null {
  if (!auth) return null;
  const said = AUTHS[auth].flatMap((name): [string, string][] =>
    authFacts[name] ? [[name, authFacts[name]]] : [],
  );
  return { kind: auth, ...Object.fromEntries(said) };
}

export function limitOf({ limitRate, limitBurst, limitMost }: Access): Told | null {
  const said = plain(
    { rate: limitRate, burst: limitBurst, concurrency: limitMost },
    { rate: null, burst: null, concurrency: null },
  );
  return Object.keys(said).length > 0 ? said : null;
}

/** Days on which it fires are the usual case, and need not be said. */
export function calendarsOf({ onlyOn, neverOn }: Access): Rule[] {
  return [
    ...words(onlyOn).map((calendar) => ({ calendar })),
    ...words(neverOn).map((calendar) => ({ calendar, mode: "exclude" })),
  ];
}

export const words = (text: string): string[] => text.split("\n").flatMap((line) => line.trim() || []);

const number = (told: unknown): number | null => (typeof told === "number" ? told : null);
