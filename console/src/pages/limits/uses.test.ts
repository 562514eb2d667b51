import { expect, test } from "vitest";
import type { HoldView, LimitUseView, TenantUsageView } from "../../api/generated/models";
import { callLimitsOf, nearestFirst, percentOf, shareOf, toneOfUse, waitingFilter } from "./uses";

const use = (used: number, most: number, near = false) =>
  ({ kind: "jobs", used, most, near }) as LimitUseView;

test("a limit of zero is used up by the first thing that is there", () => {
  expect(shareOf(use(0, 0))).toBe(0);
  expect(shareOf(use(2, 0))).toBe(1);
  expect(toneOfUse(use(0, 0))).toBe("good");
  expect(toneOfUse(use(2, 0, true))).toBe("bad");
});

test("a percentage is rounded down, so that 100 % is never said too early", () => {
  expect(percentOf(use(999, 1000))).toBe(99);
  expect(percentOf(use(1000, 1000))).toBe(100);
});

test("near and reached are marked", () => {
  expect(toneOfUse(use(79, 100))).toBe("good");
  expect(toneOfUse(use(80, 100, true))).toBe("warn");
  expect(toneOfUse(use(100, 100, true))).toBe("bad");
});

test("the tenant that is nearest to a limit comes first; those that use nothing are left out", () => {
  const tenant = (name: string, ...uses: LimitUseView[]) => ({ name, uses }) as TenantUsageView;
  const found = nearestFirst([
    tenant("idle", use(0, 9)),
    tenant("half", use(5, 10)),
    tenant("full", use(10, 10)),
  ]);
  expect(found.map((one) => one.name)).toEqual(["full", "half"]);
});

test("a hold of a job leads to its instances, and one of a target to those of the tenant", () => {
  const hold = (kind: string, name: string, lane: string) => ({ kind, name, lane }) as HoldView;
  expect(waitingFilter(hold("limit", "job/job_1", "retry"))).toEqual({ job: "job_1", state: ["FAIL"] });
  expect(waitingFilter(hold("target", "https://example.com", "any"))).toEqual({
    job: undefined,
    state: ["INIT", "FAIL"],
  });
});

test("the limit of all calls comes before the quotas", () => {
  expect(callLimitsOf({ rate: 5 }, { b: { rate: 1 }, a: {} }).map((one) => one.key)).toEqual([
    "tenant",
    "quota/a",
    "quota/b",
  ]);
  expect(callLimitsOf({}, {})).toEqual([]);
});
