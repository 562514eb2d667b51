import { expect, test } from "vitest";
import type { AlertView, SilenceView } from "../../../api/generated/models";
import { phaseOf, silencedUntil } from "./silence-times";

const NOW = Date.parse("2030-01-31T22:30:00Z");
const alert = {
  kind: "late",
  job: "coupon_job",
  owner: "crm",
  labels: { team: "crm" },
  last_seen_at: "2030-01-31T22:29:00Z",
  resolved_at: null,
} as unknown as AlertView;
const silence = (part: Partial<SilenceView>) =>
  ({
    kinds: [],
    job: null,
    owner: null,
    labels: {},
    starts_at: "2030-01-31T22:00:00Z",
    ends_at: "2030-01-31T23:00:00Z",
    ...part,
  }) as SilenceView;

test("a silence is planned, active and over", () => {
  const one = silence({});
  const phases = ["2030-01-31T21:59:59Z", one.starts_at, one.ends_at].map((at) =>
    phaseOf(one, Date.parse(at)),
  );
  expect(phases).toEqual(["planned", "active", "over"]);
});

test.each([
  [{}, true],
  [{ kinds: ["late" as const] }, true],
  [{ kinds: ["missed" as const] }, false],
  [{ job: "coupon_job" }, true],
  [{ job: "other" }, false],
  [{ owner: "ops" }, false],
  [{ labels: { team: "crm" } }, true],
  [{ labels: { team: "crm", tier: "1" } }, false],
  [{ starts_at: "2030-01-31T22:40:00Z" }, false],
])("the selector %j covers the alert: %s", (part, covered) => {
  expect(silencedUntil(alert, [silence(part)], NOW)).toBe(covered ? "2030-01-31T23:00:00Z" : undefined);
});

test("a silence of a job does not cover an alert without a job", () => {
  const whole = { ...alert, job: null, owner: null, labels: {} };
  expect(silencedUntil(whole, [silence({ job: "coupon_job" })], NOW)).toBeUndefined();
});

test("the longest silence counts, and a resolved alert is not silenced", () => {
  const long = silence({ ends_at: "2030-02-01T02:00:00Z" });
  expect(silencedUntil(alert, [silence({}), long], NOW)).toBe("2030-02-01T02:00:00Z");
  expect(silencedUntil({ ...alert, resolved_at: alert.last_seen_at }, [long], NOW)).toBeUndefined();
});

test("the server's time counts if the clock of the browser is behind", () => {
  expect(silencedUntil(alert, [silence({})], NOW - 86_400_000)).toBe("2030-01-31T23:00:00Z");
});
