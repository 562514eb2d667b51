import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { isGone } from "../../api/errors";
import { getJob, getJobExplain } from "../../api/generated/client";
import type { JobView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { WhyButton } from "../../parts/WhyButton";
import { Actions } from "./actions/Actions";
import { Backfills } from "./Backfills";
import { Calendar } from "./Calendar";
import { Facts } from "./Facts";
import { Versions } from "./Versions";
import { Warnings } from "./Warnings";
import "./jobs.css";

const REFRESH_MS = 10_000;
const VIEWS = ["facts", "calendar", "backfills", "versions"] as const;
const ROLLING_VIEWS = ["facts", "subjects", "versions"] as const; // it has subjects instead of fire times
const GRAPH_VIEWS = ["facts", "graph", "calendar", "backfills", "versions"] as const;
type View = (typeof GRAPH_VIEWS)[number] | (typeof ROLLING_VIEWS)[number];

function viewsOf(job: JobView): readonly View[] {
  if (job.trigger.kind === "rolling") return ROLLING_VIEWS;
  return job.steps ? GRAPH_VIEWS : VIEWS;
}

const RollingSetView = lazy(async () => ({
  default: (await import("../rolling/RollingSetView")).RollingSetView,
}));

const GraphView = lazy(async () => ({ default: (await import("../graphs/GraphView")).GraphView }));

/** One job: its definition, fires and runs, and its actions. */
export function JobPage() {
  const { job } = useParams({ from: "/jobs/$job" });
  const query = useQuery({
    queryKey: ["job", job],
    queryFn: ({ signal }) => getJob(job, { signal }),
    refetchInterval: REFRESH_MS,
  });
  if (query.error && (!query.data || isGone(query.error)))
    return (
      <Page title={job}>
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      </Page>
    );
  if (!query.data) return <Loading />;
  const error = query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />;
  return <JobDetail job={query.data} error={error} />;
}

function JobDetail({ job, error }: { job: JobView; error: ReactNode }) {
  const view = useView(job);
  return (
    <Page
      title={job.name}
      mark={<StateTag state={job.status} />}
      actions={
        <>
          <WhyButton
            id={job.name}
            fires={job.trigger.kind === "cron" || job.trigger.kind === "interval"}
            ask={(question, signal) => getJobExplain(job.name, question, { signal })}
          />
          <Actions job={job} />
        </>
      }
    >
      {error}
      <Warnings job={job} />
      <Views job={job} view={view} />
      {view === "facts" && <Facts job={job} />}
      {view === "subjects" && (
        <Suspense fallback={<Loading />}>
          <RollingSetView job={job} />
        </Suspense>
      )}
      {view === "graph" && job.steps && (
        <Suspense fallback={<Loading />}>
          <GraphView job={job} steps={job.steps} />
        </Suspense>
      )}
      {view === "calendar" && <Calendar job={job} />}
      {view === "backfills" && <Backfills job={job} />}
      {view === "versions" && <Versions job={job} />}
    </Page>
  );
}

function useView(job: JobView): View {
  const chosen = useSearch({ from: "/jobs/$job" }).view;
  return viewsOf(job).find((view) => view === chosen) ?? "facts";
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
      <Link to="/instances" search={{ job: job.name }} className="view">
        {t("view.runs")} →
      </Link>
      <Link to="/dead-letters" search={{ job: job.name }} className="view">
        {t("view.deadLetters")} →
      </Link>
    </nav>
  );
}
