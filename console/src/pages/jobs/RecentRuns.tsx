import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobInstances } from "../../api/generated/client";
import type { InstanceView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { duration, markedTime } from "../../parts/times";
import { type State, toneOf } from "../../parts/tones";
import { barHeights, countByState } from "./run-bars";

const REFRESH_MS = 10_000;
const MAX_RUNS = 50;

/** The recent runs as bars, oldest first: colour and title show the outcome, height the duration. */
export function RecentRuns({ job }: { job: string }) {
  const { t } = useTranslation(["jobs", "states"]);
  const query = useQuery({
    queryKey: ["job", job, "recent-runs"],
    queryFn: ({ signal }) => getJobInstances(job, { limit: MAX_RUNS }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const runs = [...(query.data?.items ?? [])].reverse();
  const heights = barHeights(runs);
  const counts = countByState(runs)
    .map(([state, count]) => `${t(`states:${state}`)} ${count}`)
    .join(" · ");
  return (
    <Card title={t("recentRuns.title")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.data && runs.length === 0 && <p className="soft">{t("recentRuns.none")}</p>}
      <ol className="strip" aria-label={t("recentRuns.label")}>
        {runs.map((run, index) => (
          <li key={run.id}>
            <RunBar run={run} height={heights[index] ?? 8} />
          </li>
        ))}
      </ol>
      {runs.length > 0 && <p className="summary">{counts}</p>}
    </Card>
  );
}

function RunBar({ run, height }: { run: InstanceView; height: number }) {
  const { t } = useTranslation("states");
  const took =
    run.duration_ms === null || run.duration_ms === undefined ? "" : `, ${duration(run.duration_ms)}`;
  const label = `${markedTime(run.fire_time)}, ${t(run.state as State)}${took}`;
  return (
    <Link
      to="/instances/$instance"
      params={{ instance: run.id }}
      className={`bar tone-${toneOf(run.state as State)}`}
      style={{ height }}
      title={label}
      aria-label={label}
    />
  );
}
