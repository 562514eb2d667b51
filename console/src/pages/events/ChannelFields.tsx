import { useTranslation } from "react-i18next";
import type { TopicSink, WebhookSink } from "../../api/generated/models";
import { ChoiceField, TextField } from "../../parts/Fields";
import type { Draft } from "./draft";

const SINKS = ["webhook", "topic"] as const;

/** The sink of a channel as text: a webhook, or a topic of a broker. */
export function SinkText({ sink }: { sink: TopicSink | WebhookSink }) {
  const { t } = useTranslation("events");
  if (sink.kind === "webhook")
    return (
      <>
        {sink.url} <span className="soft">{t("signed", { name: sink.signing })}</span>
      </>
    );
  return <>{t("topicOf", { topic: sink.topic, broker: sink.broker })}</>;
}

export interface ChannelFieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

/** The fields of a topic. */
export function TopicFields({ draft, change }: ChannelFieldsProps) {
  const { t } = useTranslation("events");
  return (
    <>
      <TextField
        label={t("form.broker")}
        help={t("form.brokerHelp")}
        value={draft.broker}
        onChange={(broker) => change({ broker })}
      />
      <TextField label={t("form.topic")} value={draft.topic} onChange={(topic) => change({ topic })} />
    </>
  );
}

/** The fields of a subscription: its sink, its events and its job labels. */
export function SubscriptionFields({ draft, change }: ChannelFieldsProps) {
  const { t } = useTranslation("events");
  return (
    <>
      <ChoiceField
        label={t("form.kind")}
        value={draft.kind}
        choices={SINKS}
        name={(kind) => t(`kind.${kind}`)}
        onChange={(kind) => change({ kind })}
      />
      {draft.kind === "topic" ? (
        <TopicFields draft={draft} change={change} />
      ) : (
        <>
          <TextField label={t("form.url")} value={draft.url} onChange={(url) => change({ url })} />
          <TextField
            label={t("form.signing")}
            help={t("form.signingHelp")}
            value={draft.signing}
            onChange={(signing) => change({ signing })}
          />
        </>
      )}
      <TextField
        label={t("form.events")}
        help={t("form.eventsHelp")}
        rows={3}
        value={draft.events}
        onChange={(events) => change({ events })}
      />
      <TextField
        label={t("form.labels")}
        help={t("form.labelsHelp")}
        rows={2}
        value={draft.labels}
        onChange={(labels) => change({ labels })}
      />
    </>
  );
}
