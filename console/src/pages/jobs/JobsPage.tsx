import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView, Status } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { CellsDown } from "../../parts/CellsDown";
import { Empty } from "../../parts/Empty";
import { Moment } from "../../parts/Moment";
import { Page } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { type Column, Rows } from "../../parts/Rows";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import { Filters } from "./Filters";
import { Labels } from "./Labels";
import { TargetText, TriggerText } from "./Texts";
import "./jobs.css";

const TEN_SECONDS = 10_000;

/** The tenant's jobs, by name. */
export function JobsPage() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const search = useSearch({ from: "/jobs" });
  const asked = useQuery({
    queryKey: ["jobs", search],
    queryFn: ({ signal }) =>
      getJobs(
        {
          status: (search.status as Status) || undefined,
          label: search.label ? [search.label] : undefined,
          prefix: search.prefix,
          cursor: search.cursor,
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: TEN_SECONDS,
  });
  const filtered = Boolean(search.status || search.label || search.prefix || search.cursor);
  return (
    <Page title={t("title")} acts={<Fresh />}>
      <Filters />
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      <CellsDown cells={asked.data?.cells_down} />
      <Rows
        caption={t("title")}
        columns={useColumns()}
        items={asked.data?.items}
        id={(job) => job.id}
        empty={filtered ? <p className="soft">{t("list.noMatch")}</p> : <Teach />}
      />
      <Pager
        cursor={search.cursor}
        next={asked.data?.next}
        go={(cursor) => navigate({ to: "/jobs", search: { ...search, cursor } })}
      />
    </Page>
  );
}

function Fresh() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  return (
    <Act action="jobs.create" type="primary" onClick={() => navigate({ to: "/jobs/new" })}>
      {t("create.open")}
    </Act>
  );
}

function Teach() {
  const { t } = useTranslation("jobs");
  return (
    <Empty
      title={t("list.none")}
      help={t("list.teach")}
      line={`curl -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
     -d '{"name": "coupon_job", "cron": "0 */5 * * * ?"}' ${location.origin}/api/v1/jobs`}
    />
  );
}

function useColumns(): Column<JobView>[] {
  const { t } = useTranslation("jobs");
  return [
    {
      title: t("list.name"),
      show: (job) => (
        <Link to="/jobs/$job" params={{ job: job.name }}>
          {job.name}
        </Link>
      ),
    },
    { title: t("list.status"), kind: "tight", show: (job) => <StateTag state={job.status} /> },
    { title: t("list.schedule"), show: (job) => <TriggerText trigger={job.trigger} /> },
    { title: t("list.next"), kind: "tight", show: (job) => <Next job={job} /> },
    { title: t("list.target"), show: (job) => <TargetText target={job.target} /> },
    { title: t("list.labels"), show: (job) => <Labels labels={job.labels} /> },
  ];
}

function Next({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  if (job.status !== "ACTIVE" || !job.next_fire_at) return <span className="soft">{t("list.noNext")}</span>;
  return (
    <>
      <Moment at={job.next_fire_at} />{" "}
      <span className="soft">{<Moment at={job.next_fire_at} relative />}</span>
    </>
  );
}
