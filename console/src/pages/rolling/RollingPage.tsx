import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import { percent, rollingSetOf } from "./rolling-set";
import { useCoverage } from "./useCoverage";

const route = getRouteApi("/rolling");
const REFRESH_MS = 15_000;
const COVERAGE_REFRESH_MS = 60_000;
const PAGE_SIZE = 20; // each row needs a request for its coverage

/** The rolling jobs, each with the coverage of its set. */
export function RollingPage() {
  const { t } = useTranslation("rolling");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["jobs", "rolling", cursor],
    queryFn: ({ signal }) => getJobs({ kind: "rolling", limit: PAGE_SIZE, cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page title={t("title")}>
      <p className="soft">{t("about")}</p>
      <PagedTable<JobView>
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(job) => job.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={
          <EmptyState
            title={t("empty.title")}
            help={t("empty.help")}
            line="horae subject import STOCK --file products.txt"
          />
        }
      />
    </Page>
  );
}

function useColumns(): Column<JobView>[] {
  const { t } = useTranslation("rolling");
  return [
    {
      title: t("columns.job"),
      show: (job) => (
        <Link to="/jobs/$job" params={{ job: job.name }} search={{ view: "subjects" }}>
          {job.name}
        </Link>
      ),
    },
    { title: t("columns.status"), kind: "tight", show: (job) => <StateTag state={job.status} /> },
    { title: t("columns.coverage"), kind: "number", show: (job) => <CoverageShare job={job} /> },
    { title: t("columns.share"), kind: "number", show: (job) => percent(rollingSetOf(job).share) },
    { title: t("columns.subjects"), kind: "number", show: (job) => <SubjectCount job={job} /> },
    { title: t("columns.window"), show: (job) => duration(rollingSetOf(job).window * 1_000) },
    { title: t("columns.every"), show: (job) => duration(rollingSetOf(job).every * 1_000) },
    { title: t("columns.estimate"), kind: "tight", show: (job) => <EstimatedTime job={job} /> },
  ];
}

function CoverageShare({ job }: { job: JobView }) {
  const coverage = useCoverage(job.name, COVERAGE_REFRESH_MS).data;
  if (!coverage) return <>–</>;
  return <span className={`toned tone-${coverage.met ? "good" : "warn"}`}>{percent(coverage.share)}</span>;
}

function SubjectCount({ job }: { job: JobView }) {
  return <>{useCoverage(job.name, COVERAGE_REFRESH_MS).data?.subjects.toLocaleString() ?? "–"}</>;
}

function EstimatedTime({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const coverage = useCoverage(job.name, COVERAGE_REFRESH_MS).data;
  if (!coverage) return <>–</>;
  if (coverage.met) return <>{t("met")}</>;
  return coverage.estimate_at ? (
    <Timestamp at={coverage.estimate_at} />
  ) : (
    <span className="soft">{t("unknown")}</span>
  );
}
