import type { TFunction } from "i18next";
import { useTranslation } from "react-i18next";
import type { JobView } from "../../api/generated/models";
import { writeJson } from "../../api/json";
import { HoldLine } from "../../parts/HoldLine";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";
import { Fires } from "./Fires";
import { Labels } from "./Labels";
import { Strip } from "./Strip";
import { TargetText, TriggerText } from "./Texts";

const DAY_MS = 86_400_000;

/** What is said of jobs that have no times of their own. */
const FIRELESS: Record<string, "fires.keyed" | "fires.rolling"> = {
  keyed: "fires.keyed",
  rolling: "fires.rolling",
};

/** How the last runs ended, when the next ones come, and what was written down. */
export function Facts({ job }: { job: JobView }) {
  const { t, i18n } = useTranslation("jobs");
  const said = i18n.language === "zh-CN" ? job.schedule?.chinese : job.schedule?.english;
  const fires = job.schedule?.fires ?? [];
  const payload = job.payload === null || job.payload === undefined ? null : writeJson(job.payload, 2);
  return (
    <>
      {(job.held ?? []).map((hold) => (
        <HoldLine key={`${hold.name} ${hold.lane} ${hold.reason}`} hold={hold} />
      ))}
      <Strip job={job.name} />
      <Card title={t("fires.title")}>
        {said && <p className="said">{said}</p>}
        {job.status === "PAUSED" && <p className="soft">{t("fires.paused")}</p>}
        {fires.length > 0 ? (
          <Fires fires={fires} zone={zoneOf(job)} />
        ) : (
          <p className="soft">{t(FIRELESS[String(job.trigger.kind)] ?? "fires.none")}</p>
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
          <dd>{t(`overlap.${job.policies.overlap as "allow"}`)}</dd>
          <dt>{t("facts.misfire")}</dt>
          <dd>{t(`misfire.${(job.policies.misfire as { policy: "once" }).policy}`)}</dd>
          <dt>{t("facts.failures")}</dt>
          <dd>{t("facts.failuresTold", { count: job.retry.max_failures as number })}</dd>
          <dt>{t("facts.expires")}</dt>
          <dd>{expires(job, t)}</dd>
          <dt>{t("list.labels")}</dt>
          <dd>{Object.keys(job.labels).length > 0 ? <Labels labels={job.labels} /> : "–"}</dd>
          <dt>{t("facts.payload")}</dt>
          <dd>{payload === null ? "–" : <pre className="payload">{payload}</pre>}</dd>
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

/** What recurs waits for a day where the job says nothing; all else without end. */
function expires(job: JobView, t: TFunction<"jobs">): string {
  if (job.expires_after) return duration(job.expires_after * 1_000);
  const recurs = ["cron", "interval", "rolling"].includes(String(job.trigger.kind));
  return recurs ? t("facts.expiresDefault", { length: duration(DAY_MS) }) : t("facts.expiresNever");
}

/** The zone a job's times are read in; none for those that have no zone of their own. */
export function zoneOf(job: JobView): string | undefined {
  return typeof job.trigger.zone === "string" ? job.trigger.zone : undefined;
}
