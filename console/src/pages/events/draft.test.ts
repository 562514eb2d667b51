import { expect, test } from "vitest";
import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { draftOfIntake, draftOfSubscription, intakeOf, subscriptionOf } from "./draft";

test("a subscription that is edited and not changed is sent as it was", () => {
  const body = {
    sink: { kind: "webhook", url: "https://crm.example.com/", signing: "crm" },
    events: ["TASK_*", "INSTANCE_DEAD"],
    labels: { team: "crm", note: "a=b" },
  };
  expect(
    subscriptionOf(draftOfSubscription({ name: "crm", ...body } as unknown as SubscriptionView)),
  ).toEqual(body);
});

test("an intake too", () => {
  const body = { source: { kind: "topic", broker: "main", topic: "acme.changes" }, types: ["publish"] };
  expect(intakeOf(draftOfIntake({ name: "in", ...body } as unknown as IntakeView))).toEqual(body);
});
