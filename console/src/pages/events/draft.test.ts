import { expect, test } from "vitest";
import type { IntakeView, SubscriptionView } from "../../api/generated/models";
import { draftOfIntake, draftOfSubscription, intakeOf, subscriptionOf } from "./draft";

test("a subscription that is edited and not changed is told as it was", () => {
  const told = {
    sink: { kind: "webhook", url: "https://crm.example.com/", signing: "crm" },
    events: ["TASK_*", "INSTANCE_DEAD"],
    labels: { team: "crm", note: "a=b" },
  };
  expect(
    subscriptionOf(draftOfSubscription({ name: "crm", ...told } as unknown as SubscriptionView)),
  ).toEqual(told);
});

test("an intake too", () => {
  const told = { source: { kind: "topic", broker: "main", topic: "acme.changes" }, types: ["publish"] };
  expect(intakeOf(draftOfIntake({ name: "in", ...told } as unknown as IntakeView))).toEqual(told);
});
