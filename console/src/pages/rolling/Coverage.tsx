import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { CoverageView, JobView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Fact } from "../../parts/Fact";
import { Figure } from "../../parts/Figure";
import { Loading } from "../../parts/Loading";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { duration, markedTime } from "../../parts/times";
import { agesOf, percent, type RollingSet, rollingSetOf } from "./rolling-set";
import { FAILED } from "./subject-status";
import { useCoverage } from "./useCoverage";
import "./rolling.css";

/** The coverage of a rolling set: the fresh share and its target, the ages, and when the target will be met. */
export function Coverage({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const query = useCoverage(job.name);
  const set = rollingSetOf(job);
  return (
    <Card title={t("coverage.title")} id="coverage">
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {!query.data && !query.error && <Loading />}
      {query.data && <CoverageDetail set={set} coverage={query.data} />}
      <p>
        <Link to="/jobs/$job" params={{ job: job.name }} search={{ view: "subjects", status: FAILED }}>
          {t("status.failedOnes")}
        </Link>
      </p>
    </Card>
  );
}

function CoverageDetail({ set, coverage }: { set: RollingSet; coverage: CoverageView }) {
  const { t } = useTranslation("rolling");
  const open = coverage.met ? undefined : "warn";
  return (
    <>
      <p className="sentence">{useCoverageText(set, coverage)}</p>
      <dl className="figures">
        <Figure name={t("coverage.share")} tone={open}>
          {percent(coverage.share)}
        </Figure>
        <Figure name={t("columns.share")}>{percent(set.share)}</Figure>
        <Figure name={t("columns.subjects")}>{coverage.subjects.toLocaleString()}</Figure>
        <Figure name={t("coverage.fresh")} tone={open}>
          {coverage.fresh.toLocaleString()}
        </Figure>
        <Figure name={t("coverage.occupied")}>{coverage.occupied.toLocaleString()}</Figure>
      </dl>
      {coverage.ages.length > 0 && <Ages set={set} coverage={coverage} />}
      <dl className="facts">
        <Fact name={t("columns.window")}>{duration(set.window * 1_000)}</Fact>
        <Fact name={t("columns.every")}>
          {duration(set.every * 1_000)}{" "}
          {set.budget && (
            <span className="soft">{t("budget", { length: duration(set.budget * 1_000) })}</span>
          )}
        </Fact>
        <Fact name={t("coverage.at")}>
          <Timestamp at={coverage.at} />
        </Fact>
      </dl>
    </>
  );
}

function useCoverageText(set: RollingSet, coverage: CoverageView): string {
  const { t } = useTranslation("rolling");
  if (coverage.subjects === 0) return t("coverage.none");
  const length = duration(set.fresh * 1_000);
  const fresh = t("coverage.summary", { fresh: coverage.fresh, subjects: coverage.subjects, length });
  if (coverage.met) return `${fresh} ${t("coverage.met")}`;
  const when = coverage.estimate_at;
  return `${fresh} ${when ? t("coverage.when", { at: markedTime(when) }) : t("coverage.unknown")}`;
}

/** The ages of the last successes: a bar and a number per age. */
function Ages({ set, coverage }: { set: RollingSet; coverage: CoverageView }) {
  const { t } = useTranslation("rolling");
  return (
    <>
      <h3 className="ages-title">{t("ages.title")}</h3>
      <dl className="ages">
        {agesOf(set, coverage).map((age) => (
          <div key={`${age.name} ${age.length}`} className={`age tone-${age.tone}`}>
            <dt>{t(`ages.${age.name}`, { length: age.length })}</dt>
            <dd>
              <span className="age-bar" style={{ width: `${age.part * 100}%` }} aria-hidden />
              <span className="age-many">{age.subjects.toLocaleString()}</span>
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}
