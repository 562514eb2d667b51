import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView, Status } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { CellsDown } from "../../parts/CellsDown";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Page } from "../../parts/Page";
import { Pager } from "../../parts/Pager";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { FilterBar } from "./FilterBar";
import { Labels } from "./Labels";
import { Owner } from "./People";
import { TargetText, TriggerText } from "./Texts";
import "./jobs.css";

const REFRESH_MS = 10_000;

/** The jobs of the tenant, by name. */
export function JobsPage() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const search = useSearch({ from: "/jobs" });
  const query = useQuery({
    queryKey: ["jobs", search],
    queryFn: ({ signal }) =>
      getJobs(
        {
          status: (search.status as Status) || undefined,
          label: search.label ? [search.label] : undefined,
          owner: search.owner,
          prefix: search.prefix,
          cursor: search.cursor,
        },
        { signal },
      ),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const filtered = Boolean(search.status || search.label || search.owner || search.prefix || search.cursor);
  return (
    <Page title={t("title")} actions={<CreateButton />}>
      <FilterBar />
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      <CellsDown cells={query.data?.cells_down} />
      <DataTable
        caption={t("title")}
        columns={useColumns()}
        items={query.data?.items}
        id={(job) => job.id}
        empty={filtered ? <p className="soft">{t("list.noMatch")}</p> : <EmptyJobs />}
      />
      <Pager
        cursor={search.cursor}
        next={query.data?.next}
        onCursor={(cursor) => navigate({ to: "/jobs", search: { ...search, cursor } })}
      />
    </Page>
  );
}

function CreateButton() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  return (
    <ActionButton action="jobs.create" type="primary" onClick={() => navigate({ to: "/jobs/new" })}>
      {t("create.open")}
    </ActionButton>
  );
}

function EmptyJobs() {
  const { t } = useTranslation("jobs");
  return (
    <EmptyState
      title={t("list.none")}
      help={t("list.emptyHelp")}
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
    { title: t("list.next"), kind: "tight", show: (job) => <NextFire job={job} /> },
    { title: t("list.target"), show: (job) => <TargetText target={job.target} /> },
    { title: t("list.owner"), show: (job) => job.owner && <Owner owner={job.owner} /> },
    { title: t("list.labels"), show: (job) => <Labels labels={job.labels} /> },
  ];
}

function NextFire({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  if (job.status !== "ACTIVE" || !job.next_fire_at) return <span className="soft">{t("list.noNext")}</span>;
  return (
    <>
      <Timestamp at={job.next_fire_at} />{" "}
      <span className="soft">{<Timestamp at={job.next_fire_at} relative />}</span>
    </>
  );
}
