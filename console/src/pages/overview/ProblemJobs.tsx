import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Select } from "antd";
import { useTranslation } from "react-i18next";
import { getProblemJobs } from "../../api/generated/client";
import type { ProblemJobView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { RunMarks } from "../../parts/RunMarks";
import { Timestamp } from "../../parts/Timestamp";
import { ownersOf } from "./owners";
import "../../parts/fields.css";

const REFRESH_MS = 15_000;
const MAX_ROWS = 10;
const READ = 200;

/** The worst jobs now: failing, with open dead letters, or overdue; of all owners or of one. */
export function ProblemJobs({ tenant }: { tenant: string | undefined }) {
  const { t } = useTranslation("onCall");
  const { owner } = useSearch({ from: "/" });
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ["problem-jobs"],
    queryFn: ({ signal }) => getProblemJobs({ limit: READ }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const columns = useColumns();
  const all = query.data?.items ?? [];
  const found = owner === undefined ? all : all.filter((one) => one.owner === owner);
  return (
    <Card title={tenant ? t("problems.titleOf", { tenant }) : t("problems.title")} id="problem-jobs">
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.data && (
        <>
          <p className="summary">
            {t(query.data.is_complete && !query.data.next ? "problems.summary" : "problems.summaryMore", {
              count: found.length,
              failing: found.filter((one) => one.is_failing).length,
              overdue: found.filter((one) => one.overdue > 0).length,
            })}
          </p>
          {(ownersOf(all).length > 1 || owner !== undefined) && (
            <search className="filters">
              <Select
                aria-label={t("problems.owner")}
                placeholder={t("problems.owner")}
                className="short"
                allowClear
                value={owner}
                options={ownersOf(all).map((value) => ({ value, label: value }))}
                onChange={(chosen) => navigate({ to: "/", search: { owner: chosen }, replace: true })}
              />
            </search>
          )}
          <DataTable
            caption={t("problems.title")}
            columns={columns}
            items={found.slice(0, MAX_ROWS)}
            id={(one) => one.job_id}
            empty={<p className="soft">{t("problems.none")}</p>}
          />
          {found.length > MAX_ROWS && (
            <p className="soft">{t("problems.more", { count: found.length - MAX_ROWS })}</p>
          )}
        </>
      )}
    </Card>
  );
}

function useColumns(): Column<ProblemJobView>[] {
  const { t } = useTranslation("onCall");
  return [
    {
      title: t("problems.job"),
      show: (one) => (
        <Link to="/jobs/$job" params={{ job: one.name }}>
          {one.name}
        </Link>
      ),
    },
    {
      title: t("problems.what"),
      show: (one) => (
        <span className={one.is_failing ? "toned tone-bad" : undefined}>
          {[
            one.is_failing && t("problems.failing"),
            one.overdue > 0 && t("problems.late"),
            one.dead > 0 && t("problems.dead"),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      ),
    },
    {
      title: t("problems.runs"),
      kind: "tight",
      show: (one) => <RunMarks runs={one.recent_runs} none={t("problems.noRuns")} />,
    },
    {
      title: t("problems.deadLetters"),
      kind: "number",
      show: (one) =>
        one.dead > 0 ? (
          <Link to="/dead-letters" search={{ job: one.name, status: "OPEN" }}>
            {one.dead.toLocaleString("en")}
          </Link>
        ) : (
          "0"
        ),
    },
    { title: t("problems.lastHour"), kind: "number", show: (one) => one.dead_last_hour.toLocaleString("en") },
    {
      title: t("problems.overdue"),
      kind: "number",
      show: (one) =>
        one.overdue > 0 ? (
          <Link to="/instances" search={{ job: one.name, state: ["INIT", "FAIL"] }}>
            {one.overdue.toLocaleString("en")}
          </Link>
        ) : (
          "0"
        ),
    },
    {
      title: t("problems.since"),
      kind: "tight",
      show: (one) => <Timestamp at={one.overdue_since ?? one.last_dead_at} relative />,
    },
    { title: t("problems.owner"), show: (one) => one.owner ?? "–" },
    {
      title: t("problems.runbook"),
      show: (one) =>
        one.runbook ? (
          <a href={one.runbook} target="_blank" rel="noreferrer">
            {t("problems.open")}
          </a>
        ) : (
          "–"
        ),
    },
  ];
}
