import { useTranslation } from "react-i18next";
import type { JobView } from "../../api/generated/models";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { windowSeconds } from "../rolling/rolling-set";
import "./jobs.css";

/** The target of each graph: its steps have targets of their own. */
const GRAPH_QUEUE = "horae.graphs";

/** A trigger as text; a cron expression with its dialect and zone, which decide its meaning. */
export function TriggerText({ trigger }: { trigger: JobView["trigger"] }) {
  const { t } = useTranslation("jobs");
  switch (trigger.kind) {
    case "cron":
      return (
        <>
          <code className="expression">{trigger.expression}</code>{" "}
          <span className="soft reading">
            {trigger.dialect} · {trigger.zone}
          </span>
        </>
      );
    case "interval":
      return <>{t("trigger.everyLength", { length: duration(trigger.every * 1_000) })}</>;
    case "once":
      return (
        <>
          {t("kind.once")} <Timestamp at={trigger.at} />
        </>
      );
    case "rolling":
      return (
        <>
          {t("trigger.rollingLength", {
            window: duration(windowSeconds(trigger.window) * 1_000),
            every:
              typeof trigger.every === "number"
                ? duration(trigger.every * 1_000)
                : `${trigger.every.expression} ${trigger.every.zone ?? ""}`,
          })}
        </>
      );
    default:
      return <>{t(`kind.${trigger.kind}`)}</>;
  }
}

export function TargetText({ target }: { target: JobView["target"] }) {
  const { t } = useTranslation("jobs");
  if (target.kind === "queue" && target.name === GRAPH_QUEUE) return <>{t("target.graph")}</>;
  if (target.kind === "queue") return <>{t("target.queueNamed", { name: target.name })}</>;
  if (target.kind === "topic")
    return <>{t("target.topicNamed", { topic: target.topic, broker: target.broker })}</>;
  return (
    <>
      {target.method ?? "POST"} <span className="url">{target.url}</span>
    </>
  );
}
