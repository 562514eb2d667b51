import { useTranslation } from "react-i18next";
import { Moment } from "../../parts/Moment";
import { duration } from "../../parts/times";

type Told = Record<string, unknown>;

/** A trigger in a few words; of a cron expression with its dialect and zone, since they decide what it means. */
export function TriggerText({ trigger }: { trigger: Told }) {
  const { t } = useTranslation("jobs");
  switch (trigger.kind) {
    case "cron":
      return (
        <>
          <code className="expression">{String(trigger.expression)}</code>{" "}
          <span className="soft reading">
            {String(trigger.dialect)} · {String(trigger.zone)}
          </span>
        </>
      );
    case "interval":
      return <>{t("trigger.everyTold", { length: duration(Number(trigger.every) * 1_000) })}</>;
    case "once":
      return (
        <>
          {t("kind.once")} <Moment at={String(trigger.at)} />
        </>
      );
    case "rolling":
      return (
        <>
          {t("trigger.rollingTold", {
            window: duration(Number(trigger.window) * 1_000),
            every: duration(Number(trigger.every) * 1_000),
          })}
        </>
      );
    default:
      return <>{t(`kind.${trigger.kind as "manual"}`)}</>;
  }
}

export function TargetText({ target }: { target: Told }) {
  const { t } = useTranslation("jobs");
  if (target.kind === "queue") return <>{t("target.queueTold", { name: String(target.name) })}</>;
  if (target.kind === "topic")
    return <>{t("target.topicTold", { topic: String(target.topic), broker: String(target.broker) })}</>;
  return (
    <>
      {String(target.method ?? "POST")} <span className="url">{String(target.url)}</span>
    </>
  );
}
