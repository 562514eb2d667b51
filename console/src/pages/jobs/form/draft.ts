/** The draft in the form of a job, and its conversion to a request body. Fields outside of the form are kept. */
import type { JobView, NewJob, UpdateJob } from "../../../api/generated/models";
import { readJson, writeJson } from "../../../api/json";
import { toLocalInput } from "../../../parts/times";
import { tickSeconds, windowSeconds } from "../../rolling/rolling-set";
import {
  type Access,
  accessOf,
  authOf,
  calendarsOf,
  limitOf,
  NO_ACCESS,
  rateLimitsOf,
  splitLines,
} from "./access";
import { omitDefaults, POLICY_DEFAULTS, RETRY_DEFAULTS } from "./defaults";

export const KINDS = ["cron", "interval", "once", "delay", "keyed", "rolling", "manual"] as const;
export type Kind = (typeof KINDS)[number];

export interface Draft extends Access {
  name: string;
  kind: Kind;
  expression: string;
  dialect: "" | "unix5" | "spring6" | "quartz6" | "quartz7";
  zone: string;
  dstGap: "fire_after" | "skip";
  dstOverlap: "first" | "second" | "both";
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
  description: string;
  owner: string;
  runbook: string;
  contacts: string;
  lateAfter: number | null;
  failAfter: number | null;
}

export const EMPTY: Draft = {
  ...NO_ACCESS,
  name: "",
  kind: "cron",
  expression: "0 */5 * * * ?",
  dialect: "",
  zone: "",
  dstGap: "fire_after",
  dstOverlap: "first",
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
  description: "",
  owner: "",
  runbook: "",
  contacts: "",
  lateAfter: null,
  failAfter: null,
};

type JsonObject = Record<string, unknown>;

/** Returns the draft of a job. */
export function draftOf(job: JobView): Draft {
  const trigger: JsonObject = { ...job.trigger };
  const target: JsonObject = { ...job.target };
  const text = (value: unknown, other = "") =>
    value === undefined || value === null ? other : String(value);
  return {
    ...accessOf(job),
    name: job.name,
    kind: job.trigger.kind,
    expression: text(trigger.expression),
    dialect: text(trigger.dialect) as Draft["dialect"],
    zone: text(trigger.zone),
    dstGap: text(trigger.dst_gap, EMPTY.dstGap) as Draft["dstGap"],
    dstOverlap: text(trigger.dst_overlap, EMPTY.dstOverlap) as Draft["dstOverlap"],
    every:
      job.trigger.kind === "rolling" ? tickSeconds(job.trigger.every) : Number(trigger.every ?? EMPTY.every),
    at: trigger.at ? fieldTime(trigger.at) : "",
    seconds: Number(trigger.seconds ?? EMPTY.seconds),
    window: job.trigger.kind === "rolling" ? windowSeconds(job.trigger.window) : EMPTY.window,
    budget: trigger.budget === undefined || trigger.budget === null ? null : Number(trigger.budget),
    share: Number(trigger.share ?? EMPTY.share),
    target: job.target.kind,
    url: text(target.url),
    method: text(target.method, EMPTY.method) as Draft["method"],
    headers: formatPairs((target.headers ?? {}) as Record<string, string>, ": "),
    queue: text(target.name),
    broker: text(target.broker),
    topic: text(target.topic),
    priority: job.priority,
    labels: formatPairs(job.labels, "="),
    payload: job.payload === null || job.payload === undefined ? "" : writeJson(job.payload, 2),
    overlap: job.policies.overlap ?? EMPTY.overlap,
    misfire: job.policies.misfire?.policy ?? EMPTY.misfire,
    failures: job.retry.max_failures ?? EMPTY.failures,
    expires: job.expires_after ?? null,
    description: text(job.description),
    owner: text(job.owner),
    runbook: text(job.runbook),
    contacts: (job.contacts ?? []).join("\n"),
    lateAfter: job.late_after ?? null,
    failAfter: job.fail_after ?? null,
  };
}

/** Returns the request body of a new job. Throws if the payload is not valid JSON. */
export function specOf(draft: Draft, base?: JobView): NewJob {
  const policies = {
    ...base?.policies,
    overlap: draft.overlap,
    misfire: { ...base?.policies.misfire, policy: draft.misfire },
    calendars: calendarsOf(draft),
  };
  const spec = {
    name: draft.name,
    trigger: triggerOf(draft, base),
    target: targetOf(draft, base),
    priority: draft.priority,
    labels: parsePairs(draft.labels, "="),
    payload: draft.payload.trim() ? readJson(draft.payload) : null,
    policies: omitDefaults(policies, POLICY_DEFAULTS),
    retry: retryOf(draft, base),
    limit: limitOf(draft),
    quotas: splitLines(draft.quotas),
    expires_after: draft.expires,
    description: draft.description.trim() || null,
    owner: draft.owner.trim() || null,
    runbook: draft.runbook.trim() || null,
    contacts: splitLines(draft.contacts),
    late_after: draft.lateAfter,
    fail_after: draft.failAfter,
    ...(base && {
      after_success: base.after_success,
      key_retention_days: base.key_retention_days,
      after: base.after,
    }),
  };
  return omitDefaults(spec, {
    priority: "normal",
    after_success: "ignore",
    after: null,
    payload: null,
    limit: null,
    expires_after: null,
    key_retention_days: null,
    description: null,
    owner: null,
    runbook: null,
    late_after: null,
    fail_after: null,
  }) as unknown as NewJob;
}

/** Returns the request body of the next version of a job. */
export function changeOf(draft: Draft, base: JobView): UpdateJob {
  const { name: _, ...spec } = specOf(draft, base);
  return { ...spec, version: base.version } as UpdateJob;
}

function triggerOf(draft: Draft, base?: JobView): JsonObject {
  switch (draft.kind) {
    case "cron":
      return {
        kind: "cron",
        expression: draft.expression,
        dialect: draft.dialect || null,
        zone: draft.zone || null,
        dst_gap: draft.dstGap,
        dst_overlap: draft.dstOverlap,
      };
    case "interval": {
      const before = base?.trigger;
      const anchor = before?.kind === "interval" && before.every === draft.every ? before.anchor : null;
      return { kind: "interval", every: draft.every, anchor };
    }
    case "once":
      return { kind: "once", at: timeOf(draft, base) };
    case "delay":
      return { kind: "delay", seconds: draft.seconds };
    case "rolling": {
      const rolling = base?.trigger.kind === "rolling" ? base.trigger : undefined;
      const before: JsonObject = { ...rolling };
      const { budget, share } = draft;
      // The form has seconds: a calendar window or a cron schedule that was not changed is kept as it is.
      const sameTicks = rolling !== undefined && tickSeconds(rolling.every) === draft.every;
      const sameWindow = rolling !== undefined && windowSeconds(rolling.window) === draft.window;
      const every = sameTicks ? before.every : draft.every;
      const window = sameWindow ? before.window : draft.window;
      const anchor = sameTicks ? before.anchor : undefined;
      return omitDefaults(
        { ...before, kind: "rolling", window, every, anchor, budget, share },
        { anchor: undefined, budget: null, share: 0.999 },
      );
    }
    default:
      return { kind: draft.kind };
  }
}

const fieldTime = (at: unknown): string => toLocalInput(new Date(String(at)));

/** The field shows whole seconds of local time, which may be ambiguous: a time that was not changed is kept exactly. */
function timeOf(draft: Draft, base?: JobView): string {
  const trigger = base?.trigger;
  const before = trigger?.kind === "once" ? trigger.at : undefined;
  if (before !== undefined && fieldTime(before) === draft.at) return before;
  return draft.at ? new Date(draft.at).toISOString() : "";
}

/** Six failures are the default and are left out, except for rolling jobs, whose default is one. */
function retryOf(draft: Draft, base?: JobView): JsonObject {
  const defaults = draft.kind === "rolling" ? { ...RETRY_DEFAULTS, max_failures: undefined } : RETRY_DEFAULTS;
  return omitDefaults({ ...base?.retry, max_failures: draft.failures }, defaults);
}

/** The default fields of a target, which are left out. */
const TARGET_DEFAULTS: JsonObject = {
  method: "POST",
  auth: null,
  signing: null,
  rate: null,
  max_concurrency: null,
};

const authFieldsOf = (draft: Draft): JsonObject => ({ auth: authOf(draft), signing: draft.signing || null });

function targetOf(draft: Draft, base?: JobView): JsonObject | undefined {
  const before: JsonObject = base?.target.kind === draft.target ? { ...base.target } : {};
  if (draft.target === "queue")
    return draft.queue ? { ...before, kind: "queue", name: draft.queue } : undefined;
  const { broker, topic, url, method } = draft;
  const fields =
    draft.target === "topic"
      ? { kind: "topic", broker, topic }
      : { kind: "http", url, method, headers: parsePairs(draft.headers, ":"), ...authFieldsOf(draft) };
  return omitDefaults({ ...before, ...fields, ...rateLimitsOf(draft) }, TARGET_DEFAULTS);
}

const formatPairs = (pairs: Record<string, string>, separator: string): string =>
  Object.entries(pairs)
    .map(([key, value]) => `${key}${separator}${value}`)
    .join("\n");

function parsePairs(text: string, separator: string): Record<string, string> {
  const entries = text
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => {
      const index = line.indexOf(separator);
      return index < 0 ? [line.trim(), ""] : [line.slice(0, index).trim(), line.slice(index + 1).trim()];
    });
  return Object.fromEntries(entries);
}
