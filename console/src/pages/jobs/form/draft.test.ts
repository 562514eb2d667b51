import { expect, test } from "vitest";
import type { JobView } from "../../../api/generated/models";
import { readJson, writeJson } from "../../../api/json";
import { NO_ACCESS } from "./access";
import { changeOf, draftOf, EMPTY, specOf } from "./draft";

const JOB = {
  id: "job_1",
  name: "coupon_job",
  version: 3,
  status: "ACTIVE",
  trigger: {
    kind: "cron",
    expression: "0 */5 * * * ?",
    dialect: "spring6",
    zone: "Asia/Shanghai",
    tzdata: "2026f",
  },
  target: { kind: "http", url: "https://example.com", signing: "hooks", read_timeout: 9 },
  priority: "critical",
  payload: { campaign: 42 },
  labels: { team: "coupons" },
  retry: { base: 2, max_failures: 4 },
  policies: { overlap: "forbid", misfire: { policy: "all", cap: 7 }, calendars: [{ calendar: "cn" }] },
  after_success: "reopen",
  limit: { rate: 5 },
  quotas: ["shared"],
  description: "Hands out coupons.",
  owner: "coupons",
  runbook: "https://wiki.example.com/coupons",
  contacts: ["coupons-oncall", "lead"],
  late_after: 60,
  fail_after: 3,
} as unknown as JobView;

test("the job of the first example is what the empty form makes, except its name and target", () => {
  const spec = specOf({ ...EMPTY, name: "coupon_job", target: "queue" });
  expect(spec).toMatchObject({ name: "coupon_job", trigger: { kind: "cron", expression: "0 */5 * * * ?" } });
  expect(spec.target).toBeUndefined();
});

test("a job that is edited and not changed is sent as it was, with the fields that the form does not show", () => {
  expect(changeOf(draftOf(JOB), JOB)).toEqual({
    version: 3,
    trigger: {
      kind: "cron",
      expression: "0 */5 * * * ?",
      dialect: "spring6",
      zone: "Asia/Shanghai",
      dst_gap: "fire_after",
      dst_overlap: "first",
    },
    target: JOB.target,
    priority: "critical",
    payload: { campaign: 42 },
    labels: { team: "coupons" },
    retry: { base: 2, max_failures: 4 },
    policies: { overlap: "forbid", misfire: { policy: "all", cap: 7 }, calendars: [{ calendar: "cn" }] },
    after_success: "reopen",
    limit: { rate: 5 },
    quotas: ["shared"],
    description: "Hands out coupons.",
    owner: "coupons",
    runbook: "https://wiki.example.com/coupons",
    contacts: ["coupons-oncall", "lead"],
    late_after: 60,
    fail_after: 3,
  });
});

test("a job that starts after another one keeps its edge", () => {
  const after = { job: "load_orders", on: "ended" };
  const base = { ...JOB, trigger: { kind: "manual" }, after } as unknown as JobView;
  expect(changeOf(draftOf(base), base)).toMatchObject({ trigger: { kind: "manual" }, after });
});

test("people that are cleared are left out, and contacts are lines", () => {
  const cleared = { description: " ", owner: "", runbook: "", contacts: "a\n\n b ", lateAfter: null };
  const spec = changeOf({ ...draftOf(JOB), ...cleared }, JOB);
  expect(spec.contacts).toEqual(["a", "b"]);
  for (const field of ["description", "owner", "runbook", "late_after"])
    expect(spec).not.toHaveProperty(field);
});

test("an interval keeps its anchor while its length stays", () => {
  const base = {
    ...JOB,
    trigger: { kind: "interval", every: 30, anchor: "2026-01-01T00:00:00Z" },
  } as unknown as JobView;
  expect(changeOf(draftOf(base), base).trigger).toEqual(base.trigger);
  expect(changeOf({ ...draftOf(base), every: 60 }, base).trigger).toMatchObject({ every: 60, anchor: null });
});

test("labels and headers are lines; a value may contain the separator", () => {
  const spec = specOf({ ...EMPTY, labels: "team=a\n\nurl=x=y\nbare", headers: "X-A: b:c" });
  expect(spec.labels).toEqual({ team: "a", url: "x=y", bare: "" });
  expect(spec.target).toMatchObject({ headers: { "X-A": "b:c" } });
});

test("another kind of target keeps no fields of the previous kind", () => {
  const spec = changeOf({ ...draftOf(JOB), target: "queue", queue: "q" }, JOB);
  expect(spec.target).toEqual({ kind: "queue", name: "q" });
});

test("an empty payload is a payload", () => {
  expect(specOf({ ...EMPTY, payload: "{}" }).payload).toEqual({});
});

test("a payload that cannot be read is not sent", () => {
  expect(() => specOf({ ...EMPTY, payload: "{" })).toThrow();
});

test("the defaults of the API are left out", () => {
  const full = {
    ...JOB,
    priority: "normal",
    payload: null,
    labels: {},
    retry: { base: 0.5, jitter_min: 0.1, jitter_max: 0.8, longest: 300, max_failures: 6 },
    policies: {
      misfire: { policy: "once", max_lateness: null, cap: null, pace: 0 },
      overlap: "allow",
      spread: { window: 0, jitter: 0, exact: false },
      calendars: [],
      start: null,
      end: null,
      max_count: null,
    },
    after_success: "ignore",
    limit: null,
    quotas: [],
    description: null,
    owner: null,
    runbook: null,
    contacts: [],
    late_after: null,
    fail_after: null,
  } as unknown as JobView;
  expect(Object.keys(changeOf(draftOf(full), full)).sort()).toEqual(["target", "trigger", "version"]);
});

test("a rolling trigger and a topic that are edited and not changed are sent as they were", () => {
  const anchor = "2026-11-15T02:00:00Z";
  const trigger = { kind: "rolling", window: 864_000, every: 86_400, anchor, budget: 14_400, fresh: 950_000 };
  const target = { kind: "topic", broker: "main", topic: "acme.stock", rate: 20 };
  const job = { ...JOB, trigger, target, retry: { max_failures: 6 } } as unknown as JobView;
  expect(changeOf(draftOf(job), job)).toMatchObject({ trigger, target, retry: { max_failures: 6 } });
});

test("auth, limits and calendars are fields, and left out when they are emptied", () => {
  const target = { ...JOB.target, auth: { kind: "basic", username: "ada", password: "crm" }, rate: 20 };
  const calendars = [{ calendar: "work" }, { calendar: "cn", mode: "exclude" }];
  const job = { ...JOB, target, policies: { ...JOB.policies, calendars } } as unknown as JobView;
  expect(changeOf(draftOf(job), job)).toMatchObject({ target, policies: { calendars }, limit: { rate: 5 } });
  const emptied = { ...draftOf(job), ...NO_ACCESS };
  const spec = changeOf(emptied, job);
  expect(spec.target).toEqual({ kind: "http", url: "https://example.com", read_timeout: 9 });
  expect([spec.limit, spec.quotas, spec.policies?.calendars]).toEqual([undefined, undefined, undefined]);
  const bearer = { ...emptied, auth: "bearer", authFacts: { token: "crm", username: "ada" } } as const;
  expect(changeOf(bearer, job).target).toMatchObject({ auth: { kind: "bearer", token: "crm" } });
});

test("64-bit numbers of a payload and a body that were not changed are sent as they were", () => {
  const text = '{"order_id":1783295187664392193}';
  const base = {
    ...JOB,
    payload: readJson(text),
    target: { ...JOB.target, body: readJson(text) },
  } as unknown as JobView;
  const spec = changeOf({ ...draftOf(base), labels: "team=ops" }, base);
  expect(writeJson(spec.payload)).toBe(text);
  expect(writeJson((spec.target as { body: unknown }).body)).toBe(text);
});

test("the time of a once-job keeps its milliseconds unless it is changed", () => {
  const base = { ...JOB, trigger: { kind: "once", at: "2035-01-01T08:00:00.250Z" } } as unknown as JobView;
  const draft = draftOf(base);
  expect(changeOf(draft, base).trigger).toEqual({ kind: "once", at: "2035-01-01T08:00:00.250Z" });
  const moved = changeOf({ ...draft, at: "2035-02-01T08:00:00" }, base).trigger as { at: string };
  expect(moved.at).toBe(new Date("2035-02-01T08:00:00").toISOString());
});
