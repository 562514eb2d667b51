import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobs } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Page } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { StateTag } from "../../parts/StateTag";
import { duration } from "../../parts/times";
import { percent, setOf } from "./set";
import { useCoverage } from "./useCoverage";

const route = getRouteApi("/rolling");
const REFRESH = 15_000;
const A_MINUTE = 60_000;
const MANY = 20; // each is asked for its coverage

/** The jobs that own a set, and how well each is covered. */
export function RollingPage() {
  const { t } = useTranslation("rolling");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const asked = useQuery({
    queryKey: ["jobs", "rolling", cursor],
    queryFn: ({ signal }) => getJobs({ kind: "rolling", limit: MANY, cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH,
  });
  return (
    <Page title={t("title")}>
      <p className="soft">{t("about")}</p>
      <Found<JobView>
        asked={asked}
        caption={t("title")}
        columns={useColumns()}
        id={(job) => job.id}
        cursor={cursor}
        go={(next) => void navigate({ search: { cursor: next } })}
        empty={
          <Empty
            title={t("empty.title")}
            help={t("empty.help")}
            line="horae subjects import STOCK --file products.txt"
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
    { title: t("columns.coverage"), kind: "number", show: (job) => <Share job={job} /> },
    { title: t("columns.share"), kind: "number", show: (job) => percent(setOf(job).share) },
    { title: t("columns.subjects"), kind: "number", show: (job) => <Many job={job} /> },
    { title: t("columns.window"), show: (job) => duration(setOf(job).window * 1_000) },
    { title: t("columns.every"), show: (job) => duration(setOf(job).every * 1_000) },
    { title: t("columns.estimate"), kind: "tight", show: (job) => <When job={job} /> },
  ];
}

function Share({ job }: { job: JobView }) {
  const covered = useCoverage(job.name, A_MINUTE).data;
  if (!covered) return <>–</>;
  return <span className={`toned tone-${covered.met ? "good" : "warn"}`}>{percent(covered.share)}</span>;
}

function Many({ job }: { job: JobView }) {
  return <>{useCoverage(job.name, A_MINUTE).data?.subjects.toLocaleString() ?? "–"}</>;
}

function When({ job }: { job: JobView }) {
  const { t } = useTranslation("rolling");
  const covered = useCoverage(job.name, A_MINUTE).data;
  if (!covered) return <>–</>;
  if (covered.met) return <>{t("met")}</>;
  return covered.estimate_at ? (
    <Moment at={covered.estimate_at} />
  ) : (
    <span className="soft">{t("unknown")}</span>
  );
}
