/** What stands in the form, and how it becomes what the API is told. What the form does not show stays as it was. */
import type { ChangedJob, JobView, NewJob } from "../../../api/generated/models";
import { readJson, writeJson } from "../../../api/json";
import { local } from "../local";
import { type Access, accessOf, authOf, calendarsOf, limitOf, NO_ACCESS, paceOf, words } from "./access";
import { POLICIES, plain, RETRY } from "./plain";

export const KINDS = ["cron", "interval", "once", "delay", "keyed", "rolling", "manual"] as const;
export type Kind = (typeof KINDS)[number];

export interface Draft extends Access {
  name: string;
  kind: Kind;
  expression: string;
  dialect: "" | "unix5" | "spring6" | "quartz6" | "quartz7";
  zone: string;
  gap: "fire_after" | "skip";
  twice: "first" | "second" | "both";
  every: number;
  at: string;
  seconds: number;
  window: number;
  budget: number | null;
  share: number;
  target: "http" | "queue" | "topic";
  url: string;
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  headers: string;
  queue: string;
  broker: string;
  topic: string;
  priority: "critical" | "normal" | "low";
  labels: string;
  payload: string;
  overlap: "allow" | "forbid" | "replace" | "queue_one";
  misfire: "skip" | "once" | "all";
  failures: number;
  expires: number | null;
}

export const EMPTY: Draft = {
  ...NO_ACCESS,
  name: "",
  kind: "cron",
  expression: "0 */5 * * * ?",
  dialect: "",
  zone: "",
  gap: "fire_after",
  twice: "first",
  every: 60,
  at: "",
  seconds: 60,
  window: 864_000,
  budget: null,
  share: 0.999,
  target: "http",
  url: "",
  method: "POST",
  headers: "",
  queue: "",
  broker: "",
  topic: "",
  priority: "normal",
  labels: "",
  payload: "",
  overlap: "allow",
  misfire: "once",
  failures: 6,
  expires: null,
};

type Told = Record<string, unknown>;

/** A job as the form shows it. */
export function draftOf(job: JobView): Draft {
  const { trigger, target } = job as { trigger: Told; target: Told };
  const text = (value: unknown, other = "") =>
    value === undefined || value === null ? other : String(value);
  return {
    ...accessOf(job),
    name: job.name,
    kind: trigger.kind as Kind,
    expression: text(trigger.expression),
    dialect: text(trigger.dialect) as Draft["dialect"],
    zone: text(trigger.zone),
    gap: text(trigger.dst_gap, EMPTY.gap) as Draft["gap"],
    twice: text(trigger.dst_overlap, EMPTY.twice) as Draft["twice"],
    every: Number(trigger.every ?? EMPTY.every),
    at: trigger.at ? shownTime(trigger.at) : "",
    seconds: Number(trigger.seconds ?? EMPTY.seconds),
    window: Number(trigger.window ?? EMPTY.window),
    budget: trigger.budget === undefined || trigger.budget === null ? null : Number(trigger.budget),
    share: Number(trigger.share ?? EMPTY.share),
    target: target.kind as Draft["target"],
    url: text(target.url),
    method: text(target.method, EMPTY.method) as Draft["method"],
    headers: lines((target.headers ?? {}) as Record<string, string>, ": "),
    queue: text(target.name),
    broker: text(target.broker),
    topic: text(target.topic),
    priority: job.priority,
    labels: lines(job.labels, "="),
    payload: job.payload === null || job.payload === undefined ? "" : writeJson(job.payload, 2),
    overlap: text(job.policies.overlap, EMPTY.overlap) as Draft["overlap"],
    misfire: text((job.policies.misfire as Told | undefined)?.policy, EMPTY.misfire) as Draft["misfire"],
    failures: Number(job.retry.max_failures ?? EMPTY.failures),
    expires: job.expires_after ?? null,
  };
}

/** A new job as the API is told of it. Throws what `readJson` throws when the payload cannot be read. */
export function specOf(draft: Draft, base?: JobView): NewJob {
  const policies = {
    ...base?.policies,
    overlap: draft.overlap,
    misfire: { ...(base?.policies.misfire as object | undefined), policy: draft.misfire },
    calendars: calendarsOf(draft),
  };
  const spec = {
    name: draft.name,
    trigger: triggerOf(draft, base),
    target: targetOf(draft, base),
    priority: draft.priority,
    labels: pairs(draft.labels, "="),
    payload: draft.payload.trim() ? readJson(draft.payload) : null,
    policies: plain(policies, POLICIES),
    retry: retryOf(draft, base),
    limit: limitOf(draft),
    quotas: words(draft.quotas),
    expires_after: draft.expires,
    ...(base && { after_success: base.after_success }),
  };
  return plain(spec, {
    priority: "normal",
    after_success: "ignore",
    payload: null,
    limit: null,
    expires_after: null,
  }) as unknown as NewJob;
}

/** The next version of a job. */
export function changeOf(draft: Draft, base: JobView): ChangedJob {
  const { name: _, ...spec } = specOf(draft, base);
  return { ...spec, version: base.version } as ChangedJob;
}

function triggerOf(draft: Draft, base?: JobView): Told {
  switch (draft.kind) {
    case "cron":
      return {
        kind: "cron",
        expression: draft.expression,
        dialect: draft.dialect || null,
        zone: draft.zone || null,
        dst_gap: draft.gap,
        dst_overlap: draft.twice,
      };
    case "interval": {
      const before = base?.trigger as Told | undefined;
      const anchor = before?.kind === "interval" && before.every === draft.every ? before.anchor : null;
      return { kind: "interval", every: draft.every, anchor };
    }
    case "once":
      return { kind: "once", at: timeOf(draft, base) };
    case "delay":
      return { kind: "delay", seconds: draft.seconds };
    case "rolling": {
      const before = base?.trigger.kind === "rolling" ? (base.trigger as Told) : {};
      const anchor = before.every === draft.every ? before.anchor : undefined;
      const { window, every, budget, share } = draft;
      return plain(
        { ...before, kind: "rolling", window, every, anchor, budget, share },
        { anchor: undefined, budget: null, share: 0.999 },
      );
    }
    default:
      return { kind: draft.kind };
  }
}

const shownTime = (at: unknown): string => local(new Date(String(at)));

/** The field shows whole seconds of a clock that may stand twice at one time: what was not changed stays as it was. */
function timeOf(draft: Draft, base?: JobView): string {
  const before = base?.trigger.kind === "once" ? base.trigger.at : undefined;
  if (before !== undefined && shownTime(before) === draft.at) return String(before);
  return draft.at ? new Date(draft.at).toISOString() : "";
}

/** Six failures are left unsaid, but of a set: there the API would fill in one. */
function retryOf(draft: Draft, base?: JobView): Told {
  const usual = draft.kind === "rolling" ? { ...RETRY, max_failures: undefined } : RETRY;
  return plain({ ...base?.retry, max_failures: draft.failures }, usual);
}

/** What of a target need not be said. */
const USUAL: Told = { method: "POST", auth: null, signing: null, rate: null, max_concurrency: null };

const proofOf = (draft: Draft): Told => ({ auth: authOf(draft), signing: draft.signing || null });

function targetOf(draft: Draft, base?: JobView): Told | undefined {
  const before = base?.target.kind === draft.target ? base.target : {};
  if (draft.target === "queue")
    return draft.queue ? { ...before, kind: "queue", name: draft.queue } : undefined;
  const { broker, topic, url, method } = draft;
  const told =
    draft.target === "topic"
      ? { kind: "topic", broker, topic }
      : { kind: "http", url, method, headers: pairs(draft.headers, ":"), ...proofOf(draft) };
  return plain({ ...before, ...told, ...paceOf(draft) }, USUAL);
}

const lines = (pairs: Record<string, string>, between: string): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key}${between}${value}`)
    .join("\n");

function pairs(text: string, between: string): Record<string, string> {
  const found = text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => {
      const place = line.indexOf(between);
      return place < 0 ? [line.trim(), ""] : [line.slice(0, place).trim(), line.slice(place + 1).trim()];
    });
  return Object.fromEntries(found);
}
