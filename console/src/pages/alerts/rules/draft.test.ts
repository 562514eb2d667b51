import { expect, test } from "vitest";
import type { AlertRuleView } from "../../../api/generated/models";
import { draftOf, EMPTY, ruleOf } from "./draft";

test("a rule that is edited and not changed is sent as it was", () => {
  const body = {
    kind: "no_success",
    job: "coupon_job",
    labels: { team: "crm" },
    owner: "crm",
    threshold: 3_600,
    resolve_after: 120,
    channels: ["orders-oncall"],
    severity: "critical",
    group_by: "tenant",
    repeat_after: 0,
    enabled: false,
  };
  expect(ruleOf(draftOf({ name: "coupons", ...body } as unknown as AlertRuleView))).toEqual(body);
});

test("a kind has only the fields that the API takes for it", () => {
  const draft = { ...EMPTY, job: "coupon_job", threshold: 5 };
  expect(ruleOf({ ...draft, kind: "dead_letter" })).toMatchObject({ job: "coupon_job", threshold: null });
  expect(ruleOf({ ...draft, kind: "breaker_open" })).toMatchObject({ job: null, threshold: 5 });
});
