import { useTranslation } from "react-i18next";
import type { CoverageView, JobView } from "../../api/generated/models";
import { Figure } from "../../parts/Figure";
import { Loading } from "../../parts/Loading";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { dateTime, duration } from "../../parts/times";
import { Fact } from "../instances/Facts";
import { agesOf, percent, type Set_, setOf } from "./set";
import { useCoverage } from "./useCoverage";
import "./rolling.css";

/** Which share of the set is fresh beside the share that is asked for, how old it is, and when it will be enough. */
export function Coverage({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const asked = useCoverage(job.name);
  const set = setOf(job);
  return (
    <Card title={t("coverage.title")} id="coverage">
      {asked.error && <Trouble error={asked.error} onAgain={() => void asked.refetch()} />}
      {!asked.data && !asked.error && <Loading />}
      {asked.data && <Counted set={set} covered={asked.data} />}
    </Card>
  );
}

function Counted({ set, covered }: { set: Set_; covered: CoverageView }) {
  const { t } = useTranslation("rolling");
  const open = covered.met ? undefined : "warn";
  return (
    <>
      <p className="said">{useSaid(set, covered)}</p>
      <dl className="figures">
        <Figure name={t("coverage.share")} tone={open}>
          {percent(covered.share)}
        </Figure>
        <Figure name={t("columns.share")}>{percent(set.share)}</Figure>
        <Figure name={t("columns.subjects")}>{covered.subjects.toLocaleString()}</Figure>
        <Figure name={t("coverage.fresh")} tone={open}>
          {covered.fresh.toLocaleString()}
        </Figure>
        <Figure name={t("coverage.occupied")}>{covered.occupied.toLocaleString()}</Figure>
      </dl>
      {covered.ages.length > 0 && <Ages set={set} covered={covered} />}
      <dl className="facts">
        <Fact name={t("columns.window")}>{duration(set.window * 1_000)}</Fact>
        <Fact name={t("columns.every")}>
          {duration(set.every * 1_000)}{" "}
          {set.budget && (
            <span className="soft">{t("budget", { length: duration(set.budget * 1_000) })}</span>
          )}
        </Fact>
        <Fact name={t("coverage.at")}>
          <Moment at={covered.at} />
        </Fact>
      </dl>
    </>
  );
}

function useSaid(set: Set_, covered: CoverageView): string {
  const { t } = useTranslation("rolling");
  if (covered.subjects === 0) return t("coverage.none");
  const length = duration(set.fresh * 1_000);
  const fresh = t("coverage.said", { fresh: covered.fresh, subjects: covered.subjects, length });
  if (covered.met) return `${fresh} ${t("coverage.met")}`;
  const when = covered.estimate_at;
  return `${fresh} ${when ? t("coverage.when", { at: dateTime(when) }) : t("coverage.unknown")}`;
}

/** How old the last successes are: one bar for each age, its number beside it. */
function Ages({ set, covered }: { set: Set_; covered: CoverageView }) {
  const { t } = useTranslation("rolling");
  return (
    <>
      <h3 className="ages-title">{t("ages.title")}</h3>
      <dl className="ages">
        {agesOf(set, covered).map((age) => (
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
