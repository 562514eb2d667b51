/** The drafts in the forms of channels, and their conversion to request bodies. */
import type { IntakeView, NewIntake, NewSubscription, SubscriptionView } from "../../api/generated/models";
import { labelTexts, readLabels, readLines } from "../../parts/lines";

export interface Draft {
  name: string;
  kind: "webhook" | "topic";
  url: string;
  signing: string;
  broker: string;
  topic: string;
  events: string;
  labels: string;
  types: string;
}

export const EMPTY: Draft = {
  name: "",
  kind: "webhook",
  url: "",
  signing: "",
  broker: "",
  topic: "",
  events: "",
  labels: "",
  types: "",
};

export function draftOfSubscription(one: SubscriptionView): Draft {
  const labels = labelTexts(one.labels).join("\n");
  return { ...EMPTY, ...one.sink, name: one.name, events: one.events.join("\n"), labels };
}

export function draftOfIntake(one: IntakeView): Draft {
  return { ...EMPTY, ...one.source, name: one.name, types: one.types.join("\n") };
}

export function subscriptionOf(draft: Draft): NewSubscription {
  const { url, signing, broker, topic } = draft;
  return {
    sink: draft.kind === "webhook" ? { kind: "webhook", url, signing } : { kind: "topic", broker, topic },
    events: readLines(draft.events),
    labels: readLabels(draft.labels),
  };
}

export function intakeOf({ broker, topic, types }: Draft): NewIntake {
  return { source: { kind: "topic", broker, topic }, types: readLines(types) };
}
