import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView, Status } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { useSelection } from "../../parts/list/Selection";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { RunMarks } from "../../parts/RunMarks";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { BulkBar } from "./bulk/BulkBar";
import { NOTHING, type SelectedJobs, withJobs } from "./bulk/selected-jobs";
import { FilterBar } from "./FilterBar";
import { Labels } from "./Labels";
import { Owner } from "./People";
import { isOrder, type ListSearch } from "./routes";
import { TargetText, TriggerText } from "./Texts";
import { zoneOf } from "./zone-of";
import "./jobs.css";

const REFRESH_MS = 10_000;
const RECENT_RUNS = 5;

/** The jobs of the tenant, with what can be done to many of them. */
export function JobsPage() {
  const { t } = useTranslation("jobs");
  const navigate = useNavigate();
  const search = useSearch({ from: "/jobs" });
  const query = useQuery({
    queryKey: ["jobs", search],
    queryFn: ({ signal }) => getJobs({ ...queryOf(search), recent_runs: RECENT_RUNS }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  const { cursor, order, ...filters } = search;
  const filtered = Object.values({ ...filters, cursor }).some((value) => value !== undefined);
  const [selected, setSelected] = useState<SelectedJobs>(NOTHING);
  const filterText = JSON.stringify(filters);
  // biome-ignore lint/correctness/useExhaustiveDependencies: other filters: another list, of which nothing is selected
  useEffect(() => setSelected(NOTHING), [filterText]);
  const selection = useSelection<JobView>(
    (job) => selected.isAll || selected.names.has(job.name),
    (job) => job.name,
    (jobs, isSelected) => setSelected(withJobs(selected, jobs, isSelected)),
  );
  return (
    <Page title={t("title")} actions={<CreateButton />}>
      <FilterBar />
      <BulkBar
        filters={filters}
        selected={selected}
        hasMore={Boolean(query.data?.next ?? cursor)}
        onSelect={setSelected}
      />
      <PagedTable<JobView>
        list="jobs"
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(job) => job.id}
        empty={filtered ? <p className="soft">{t("list.noMatch")}</p> : <EmptyJobs />}
        cursor={cursor}
        onCursor={(next) => navigate({ to: "/jobs", search: { ...search, cursor: next } })}
        read={(from, signal) =>
          getJobs({ ...queryOf(search), cursor: from, limit: MAX_PAGE_SIZE }, { signal })
        }
        selection={selection}
        sorting={{
          by: order,
          onSort: (by) =>
            navigate({
              to: "/jobs",
              search: { ...search, order: isOrder(by) ? by : undefined, cursor: undefined },
            }),
        }}
      />
    </Page>
  );
}

const queryOf = ({ status, label, ...rest }: ListSearch) => ({
  ...rest,
  status: (status as Status) || undefined,
  label: label ? [label] : undefined,
});

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
      id: "name",
      title: t("list.name"),
      show: (job) => (
        <Link to="/jobs/$job" params={{ job: job.name }}>
          {job.name}
        </Link>
      ),
    },
    { id: "status", title: t("list.status"), kind: "tight", show: (job) => <StateTag state={job.status} /> },
    {
      id: "runs",
      title: t("list.runs"),
      kind: "tight",
      show: (job) => <RunMarks runs={job.recent_runs ?? []} none={t("list.noRuns")} />,
    },
    { id: "schedule", title: t("list.schedule"), show: (job) => <TriggerText trigger={job.trigger} /> },
    {
      id: "next",
      title: t("list.next"),
      kind: "tight",
      sort: "next_fire_at",
      soonestFirst: true,
      show: (job) => <NextFire job={job} />,
    },
    {
      id: "target",
      title: t("list.target"),
      kind: "wide",
      show: (job) => <TargetText target={job.target} />,
    },
    { id: "owner", title: t("list.owner"), show: (job) => job.owner && <Owner owner={job.owner} /> },
    { id: "labels", title: t("list.labels"), show: (job) => <Labels labels={job.labels} /> },
    {
      id: "changed",
      extra: true,
      title: t("list.changed"),
      kind: "tight",
      sort: "changed_at",
      show: (job) => job.changed_at && <Timestamp at={job.changed_at} />,
    },
    { id: "priority", extra: true, title: t("list.priority"), show: (job) => t(`priority.${job.priority}`) },
    { id: "version", extra: true, kind: "number", title: t("list.version"), show: (job) => job.version },
    { id: "id", extra: true, kind: "tight", title: t("list.id"), show: (job) => <code>{job.id}</code> },
  ];
}

function NextFire({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  if (job.status !== "ACTIVE" || !job.next_fire_at) return <span className="soft">{t("list.noNext")}</span>;
  return (
    <>
      <Timestamp at={job.next_fire_at} jobZone={zoneOf(job)} />
      <div className="soft">
        <Timestamp at={job.next_fire_at} relative />
      </div>
    </>
  );
}
