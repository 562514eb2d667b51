import { expect, test } from "vitest";
import type { AlertChannelView } from "../../../api/generated/models";
import { channelOf, draftOf, emptyDraft, FIELDS, KINDS, withKind } from "./draft";

const CHANNELS = [
  { kind: "feishu", language: "zh", url_secret: "feishu-hook", signing: "feishu-sign" },
  { kind: "dingtalk", language: "zh", url_secret: "ding-hook" },
  { kind: "wecom", language: "zh", url_secret: "wecom-hook" },
  { kind: "slack", language: "en", url_secret: "slack-hook" },
  { kind: "pagerduty", language: "en", routing_key: "pd", url: "https://events.eu.pagerduty.com/v2/enqueue" },
  { kind: "alertmanager", language: "en", url: "https://am.example.com", bearer: "am-token" },
  { kind: "webhook", language: "en", url: "https://ops.example.com/alerts", signing: "ops" },
  { kind: "email", language: "en", to: ["ops@example.com", "crm@example.com"] },
];

test.each(CHANNELS)(
  "a channel of the kind $kind that is edited and not changed is sent as it was",
  (channel) => {
    const view = { name: "default", channel } as unknown as AlertChannelView;
    expect(channelOf(draftOf(view))).toEqual({ channel });
  },
);

test("every kind has a test above", () => {
  expect(CHANNELS.map((channel) => channel.kind)).toEqual(KINDS);
});

test("another kind sends its own fields only", () => {
  const draft = { ...emptyDraft("zh-CN"), url_secret: "hook", signing: "sign" };
  expect(channelOf(withKind(draft, "slack"))).toEqual({
    channel: { kind: "slack", language: "zh", url_secret: "hook" },
  });
  expect(FIELDS.slack).toEqual(["url_secret"]);
});

test("the address of PagerDuty is filled in, and not taken over by another kind", () => {
  const draft = withKind(emptyDraft("en"), "pagerduty");
  expect(draft.url).toBe("https://events.pagerduty.com/v2/enqueue");
  expect(withKind(draft, "webhook").url).toBe("");
});
