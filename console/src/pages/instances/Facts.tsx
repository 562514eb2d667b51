import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { InstanceDetail } from "../../api/generated/models";
import { CopyableText } from "../../parts/CopyableText";
import { Fact } from "../../parts/Fact";
import { JobLink, KeyLink } from "../../parts/instance-links";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { isLive } from "./filters";
import { traceOf } from "./trace";
import "./instances.css";

/** The details of an instance, the most important first. */
export function Facts({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation("instances");
  return (
    <>
      <dl className="facts">
        <Fact name={t("columns.job")}>
          <JobLink one={one} /> <span className="soft">{t("version", { version: one.job_version })}</span>
        </Fact>
        {one.key && (
          <Fact name={t("columns.key")}>
            <KeyLink one={one} />
          </Fact>
        )}
        <Fact name={t("fact.fire")}>
          <Timestamp at={one.fire_time} />
        </Fact>
        <Fact name={t(isLive(one.state) ? "fact.due" : "fact.wasDue")}>
          <Timestamp at={one.due_at} />
        </Fact>
        <Fact name={t("fact.changed")}>
          <Timestamp at={one.changed_at} />
        </Fact>
        {one.deadline && (
          <Fact name={t("fact.deadline")}>
            <Timestamp at={one.deadline} />
          </Fact>
        )}
        {one.expires_at && (
          <Fact name={t("fact.expires")}>
            <Timestamp at={one.expires_at} />
          </Fact>
        )}
        {one.range_to && (
          <Fact name={t("fact.range")}>
            {one.range_count} <Timestamp at={one.range_to} />
          </Fact>
        )}
        <Fact name={t("columns.delay")}>{formatDuration(one.trigger_delay_ms)}</Fact>
        {Boolean(one.held_ms) && <Fact name={t("fact.held")}>{formatDuration(one.held_ms)}</Fact>}
        <Fact name={t("fact.class")}>
          {t(`priority.${one.priority}`)} · {t(`lane.${one.lane}`)}
        </Fact>
        <Fact name={t("fact.retries")}>{one.retry_count}</Fact>
        {one.worker_id && <Fact name={t("fact.worker")}>{one.worker_id}</Fact>}
        {one.error_code && (
          <Fact name={t("columns.error")}>
            <code>{one.error_code}</code> {one.error_msg}
          </Fact>
        )}
        <Fact name={t("fact.idem")}>
          <code>{one.idempotency_key}</code>
        </Fact>
        <Fact name={t("fact.id")}>
          <Link to="/instances/$instance" params={{ instance: one.id }}>
            <code>{one.id}</code>
          </Link>
        </Fact>
      </dl>
      <p className="trace">{t("trace")}</p>
      <CopyableText text={traceOf(one.id)} />
      {one.trace_url && (
        <p>
          <a href={one.trace_url} target="_blank" rel="noreferrer">
            {t("traceLink")}
          </a>
        </p>
      )}
    </>
  );
}

const formatDuration = (ms: number | null | undefined) =>
  ms === null || ms === undefined ? "–" : duration(ms);
