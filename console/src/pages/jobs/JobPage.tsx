import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { getJob } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";
import { isGone } from "../../api/trouble";
import { Loading } from "../../parts/Loading";
import { Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import { Acts } from "./acts/Acts";
import { Backfills } from "./Backfills";
import { Calendar } from "./Calendar";
import { Facts } from "./Facts";
import { Versions } from "./Versions";
import "./jobs.css";

const TEN_SECONDS = 10_000;
const VIEWS = ["facts", "calendar", "backfills", "versions"] as const;
const OF_SET = ["facts", "subjects", "versions"] as const; // it has no times of its own, but members
type View = (typeof VIEWS)[number] | (typeof OF_SET)[number];

const viewsOf = (job: JobView): readonly View[] => (job.trigger.kind === "rolling" ? OF_SET : VIEWS);
const Covered = lazy(async () => ({ default: (await import("../rolling/Covered")).Covered }));

/** One job: what it is, when it fires, how it went, and what may be done with it. */
export function JobPage() {
  const { job } = useParams({ from: "/jobs/$job" });
  const asked = useQuery({
    queryKey: ["job", job],
    queryFn: ({ signal }) => getJob(job, { signal }),
    refetchInterval: TEN_SECONDS,
  });
  if (asked.error && (!asked.data || isGone(asked.error)))
    return (
      <Page title={job}>
        <Trouble error={asked.error} onAgain={asked.refetch} />
      </Page>
    );
  if (!asked.data) return <Loading />;
  const trouble = asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />;
  return <Known job={asked.data} trouble={trouble} />;
}

function Known({ job, trouble }: { job: JobView; trouble: ReactNode }) {
  const view = useView(job);
  return (
    <Page title={job.name} mark={<StateTag state={job.status} />} acts={<Acts job={job} />}>
      {trouble}
      <Views job={job} view={view} />
      {view === "facts" && <Facts job={job} />}
      {view === "subjects" && (
        <Suspense fallback={<Loading />}>
          <Covered job={job} />
        </Suspense>
      )}
      {view === "calendar" && <Calendar job={job} />}
      {view === "backfills" && <Backfills job={job} />}
      {view === "versions" && <Versions job={job} />}
    </Page>
  );
}

function useView(job: JobView): View {
  const asked = useSearch({ from: "/jobs/$job" }).view;
  return viewsOf(job).find((view) => view === asked) ?? "facts";
}

function Views({ job, view }: { job: JobView; view: View }) {
  const { t } = useTranslation("jobs");
  return (
    <nav className="views" aria-label={t("view.label")}>
      {viewsOf(job).map((one) => (
        <Link
          key={one}
          to="/jobs/$job"
          params={{ job: job.name }}
          search={one === "facts" ? {} : { view: one }}
          aria-current={one === view ? "page" : undefined}
          className={one === view ? "view here" : "view"}
        >
          {t(`view.${one}`)}
        </Link>
      ))}
    </nav>
  );
}
