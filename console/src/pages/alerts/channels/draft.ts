/** The draft in the form of an alert channel, and its conversion to a request body. */
import type { AlertChannelView, AlertLanguage, NewAlertChannel } from "../../../api/generated/models";
import { readLines } from "../../../parts/lines";

export const LANGUAGES = ["en", "zh"] as const satisfies readonly AlertLanguage[];
const PAGERDUTY_URL = "https://events.pagerduty.com/v2/enqueue";

/** The fields of a channel. Those of `SECRETS` are names of secrets, and those of `OPTIONAL` may be empty. */
export type FieldName = "url_secret" | "signing" | "routing_key" | "bearer" | "url" | "to";
export type Kind = AlertChannelView["channel"]["kind"];

export const FIELDS: Record<Kind, readonly FieldName[]> = {
  feishu: ["url_secret", "signing"],
  dingtalk: ["url_secret", "signing"],
  wecom: ["url_secret"],
  slack: ["url_secret"],
  pagerduty: ["routing_key", "url"],
  alertmanager: ["url", "bearer"],
  webhook: ["url", "signing"],
  email: ["to"],
};
export const KINDS = Object.keys(FIELDS) as Kind[];
export const SECRETS: ReadonlySet<FieldName> = new Set(["url_secret", "signing", "routing_key", "bearer"]);

/** Whether a field of a kind may be empty. */
export const isOptional = (kind: Kind, field: FieldName): boolean =>
  field === "bearer" || (field === "signing" && kind !== "webhook");

export interface Draft extends Record<FieldName, string> {
  name: string;
  kind: Kind;
  language: AlertLanguage;
}

export const emptyDraft = (language: string): Draft => ({
  name: "",
  kind: "feishu",
  language: language === "zh-CN" ? "zh" : "en",
  url_secret: "",
  signing: "",
  routing_key: "",
  bearer: "",
  url: "",
  to: "",
});

export function draftOf({ name, channel }: AlertChannelView): Draft {
  const draft: Draft = {
    ...emptyDraft("en"),
    name,
    kind: channel.kind,
    language: channel.language ?? "en",
  };
  const values = channel as unknown as Partial<Record<FieldName, string | string[] | null>>;
  for (const field of FIELDS[channel.kind]) {
    const value = values[field] ?? "";
    draft[field] = Array.isArray(value) ? value.join("\n") : value;
  }
  return draft;
}

/** Returns a draft of another kind. The address of PagerDuty is known; others are not carried over to or from it. */
export function withKind(draft: Draft, kind: Kind): Draft {
  const known = kind === "pagerduty" ? PAGERDUTY_URL : "";
  const url = kind === "pagerduty" || draft.url === PAGERDUTY_URL ? known : draft.url;
  return { ...draft, kind, url };
}

export function channelOf(draft: Draft): NewAlertChannel {
  const fields = FIELDS[draft.kind].flatMap((field): [string, string | string[]][] => {
    if (field === "to") return [[field, readLines(draft.to)]];
    const value = draft[field].trim();
    return value === "" && isOptional(draft.kind, field) ? [] : [[field, value]];
  });
  const channel = { kind: draft.kind, language: draft.language, ...Object.fromEntries(fields) };
  return { channel: channel as unknown as NewAlertChannel["channel"] };
}
