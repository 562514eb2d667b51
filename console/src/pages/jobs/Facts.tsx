import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../api/generated/models";
import { writeJson } from "../../api/json";
import { HoldLine } from "../../parts/HoldLine";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";
import { Fires } from "./Fires";
import { Labels } from "./Labels";
import { People } from "./People";
import { QueueLine } from "./QueueLine";
import { RecentRuns } from "./RecentRuns";
import { TargetText, TriggerText } from "./Texts";
import { zoneOf } from "./zone-of";

const DAY_MS = 86_400_000;

/** The texts for jobs without their own fire times. */
const NO_FIRES_TEXTS: Record<string, "fires.keyed" | "fires.rolling"> = {
  keyed: "fires.keyed",
  rolling: "fires.rolling",
};

/** The recent runs, the next fires, and the definition of a job. */
export function Facts({ job }: { job: JobView }) {
  const { t, i18n } = useTranslation("jobs");
  const sentence = i18n.language === "zh-CN" ? job.schedule?.chinese : job.schedule?.english;
  const fires = job.schedule?.fires ?? [];
  const payload = job.payload === null || job.payload === undefined ? null : writeJson(job.payload, 2);
  return (
    <>
      {(job.held ?? []).map((hold) => (
        <HoldLine key={`${hold.name} ${hold.lane} ${hold.reason}`} hold={hold} />
      ))}
      {job.target.kind === "queue" && !job.steps && <QueueLine name={job.target.name} />}
      <RecentRuns job={job.name} />
      <People job={job} />
      <Card title={t("fires.title")}>
        {sentence && <p className="sentence">{sentence}</p>}
        {job.status === "PAUSED" && <p className="soft">{t("fires.paused")}</p>}
        {fires.length > 0 ? (
          <Fires fires={fires} zone={zoneOf(job)} />
        ) : (
          <p className="soft">{t(NO_FIRES_TEXTS[job.trigger.kind] ?? "fires.none")}</p>
        )}
      </Card>
      <Card title={t("facts.title")}>
        <dl className="facts">
          <dt>{t("list.schedule")}</dt>
          <dd>
            <TriggerText trigger={job.trigger} />
          </dd>
          <dt>{t("list.target")}</dt>
          <dd>
            <TargetText target={job.target} />
          </dd>
          <dt>{t("facts.priority")}</dt>
          <dd>{t(`priority.${job.priority}`)}</dd>
          <dt>{t("facts.overlap")}</dt>
          <dd>{t(`overlap.${job.policies.overlap ?? "allow"}`)}</dd>
          <dt>{t("facts.misfire")}</dt>
          <dd>{t(`misfire.${job.policies.misfire?.policy ?? "once"}`)}</dd>
          {!job.steps && (
            <>
              <dt>{t("facts.failures")}</dt>
              <dd>{t("facts.failuresCount", { count: job.retry.max_failures as number })}</dd>
            </>
          )}
          <dt>{t("facts.expires")}</dt>
          <dd>{expiryText(job, t)}</dd>
          <dt>{t("list.labels")}</dt>
          <dd>{Object.keys(job.labels).length > 0 ? <Labels labels={job.labels} /> : "–"}</dd>
          {!job.steps && (
            <>
              <dt>{t("facts.payload")}</dt>
              <dd>{payload === null ? "–" : <pre className="payload">{payload}</pre>}</dd>
            </>
          )}
          <dt>{t("facts.version")}</dt>
          <dd>{job.version}</dd>
          <dt>{t("facts.id")}</dt>
          <dd>
            <code>{job.id}</code>
          </dd>
        </dl>
      </Card>
    </>
  );
}

/** Without a setting, runs of recurring jobs expire after a day; others never expire. */
function expiryText(job: JobView, t: TFunction<"jobs">): string {
  if (job.expires_after) return duration(job.expires_after * 1_000);
  const recurs = ["cron", "interval", "rolling"].includes(job.trigger.kind);
  return recurs ? t("facts.expiresDefault", { length: duration(DAY_MS) }) : t("facts.expiresNever");
}
