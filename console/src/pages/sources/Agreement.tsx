import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { SourceView } from "../../api/generated/models";
import { Fact } from "../../parts/Fact";
import { Figure } from "../../parts/Figure";
import { Card } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { countOf, DIFFERENCES, openCount, REPAIRS, repairedCount, UNCHANGED, verdict } from "./counts";
import { draftOf } from "./draft";
import { NextRound, RoundMark } from "./RoundTexts";

/** The result of the last round: how well the tasks agree with the list. */
export function Agreement({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  const last = source.last;
  if (!last)
    return (
      <Card title={t("agreement")}>
        <p className="soft">{t("noRound")}</p>
      </Card>
    );
  const left = UNCHANGED.filter((name) => countOf(last, name) > 0);
  const verdictName = verdict(last);
  const found = last.dry ? "drift.dry" : "drift.summary";
  return (
    <Card title={t("agreement")}>
      <p className="sentence">
        {verdictName === "found"
          ? t(found, { count: last.drift, repaired: repairedCount(last) })
          : t(`drift.${verdictName}`)}
      </p>
      <dl className="figures">
        {DIFFERENCES.map((name) => (
          <Figure
            key={name}
            name={t(`count.${name}`)}
            tone={countOf(last, name) > 0 && openCount(last) > 0 ? "warn" : undefined}
          >
            {countOf(last, name).toLocaleString()}
          </Figure>
        ))}
        {!last.dry &&
          REPAIRS.map((name) => (
            <Figure key={name} name={t(`count.${name}`)}>
              {countOf(last, name).toLocaleString()}
            </Figure>
          ))}
      </dl>
      {left.length > 0 && (
        <p className="soft">
          {t("left")} {left.map((name) => `${t(`count.${name}`)} ${countOf(last, name)}`).join(" · ")}
        </p>
      )}
      <dl className="facts">
        <Fact name={t("columns.last")}>
          <RoundMark round={last} />{" "}
          <span className="soft">
            {t("rows", { rows: last.counts.rows ?? 0, living: last.counts.living ?? 0 })}
          </span>
        </Fact>
        <Fact name={t("columns.next")}>
          <NextRound source={source} />
          {source.after !== null && <span className="soft"> {t("after", { key: source.after })}</span>}
        </Fact>
        {last.error && (
          <Fact name={t("columns.error")}>
            <span className="tone-bad toned">{last.error}</span>{" "}
            {source.failures > 0 && <span className="soft">{t("failures", { count: source.failures })}</span>}
          </Fact>
        )}
      </dl>
    </Card>
  );
}

/** The definition of a source. */
export function SourceFacts({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  const draft = draftOf(source);
  const named = (["url", "signing", "dsn", "ca"] as const).filter((name) => draft[name]);
  return (
    <Card title={t("facts")}>
      <dl className="facts">
        <Fact name={t("columns.type")}>
          <Link to="/jobs/$job" params={{ job: source.type }}>
            {source.type}
          </Link>
        </Fact>
        <Fact name={t("columns.kind")}>{t(`kind.${draft.kind}`)}</Fact>
        {named.map((name) => (
          <Fact key={name} name={t(name)}>
            {draft[name]}
          </Fact>
        ))}
        {draft.statement && (
          <Fact name={t("statement")}>
            <pre className="statement">{draft.statement}</pre>
          </Fact>
        )}
        {draft.kind !== "push" && (
          <Fact name={t("columns.every")}>{t("every", { length: duration(draft.every * 1_000) })}</Fact>
        )}
        <Fact name={t("grace")}>{duration(draft.grace * 1_000)}</Fact>
        <Fact name={t("orphans")}>
          {draft.orphans === "cancel" ? t("put.cancels", { count: draft.most_cancelled }) : t("orphan.keep")}
        </Fact>
        <Fact name={t("changed")}>
          <Timestamp at={source.changed_at} />{" "}
          <span className="soft">
            <Principal id={source.changed_by} /> · {t("revision", { revision: source.revision })}
          </span>
        </Fact>
      </dl>
    </Card>
  );
}
