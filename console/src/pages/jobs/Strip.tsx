import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getJobInstances } from "../../api/generated/client";
import type { InstanceView } from "../../api/generated/models";
import { Card } from "../../parts/Page";
import { Trouble } from "../../parts/Trouble";
import { dateTime, duration } from "../../parts/times";
import { type State, toneOf } from "../../parts/tones";
import { heights, told } from "./strip-facts";

const TEN_SECONDS = 10_000;
const MANY = 50;

/** The last runs as bars, oldest first: colour and title say how each ended, height how long it took. */
export function Strip({ job }: { job: string }) {
  const { t } = useTranslation(["jobs", "states"]);
  const asked = useQuery({
    queryKey: ["job", job, "strip"],
    queryFn: ({ signal }) => getJobInstances(job, { limit: MANY }, { signal }),
    refetchInterval: TEN_SECONDS,
  });
  const runs = [...(asked.data?.items ?? [])].reverse();
  const tall = heights(runs);
  const counts = told(runs)
    .map(([state, count]) => `${t(`states:${state}`)} ${count}`)
    .join(" · ");
  return (
    <Card title={t("strip.title")}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      {asked.data && runs.length === 0 && <p className="soft">{t("strip.none")}</p>}
      <ol className="strip" aria-label={t("strip.label")}>
        {runs.map((run, index) => (
          <li key={run.id}>
            <Bar run={run} height={tall[index] ?? 8} />
          </li>
        ))}
      </ol>
      {runs.length > 0 && <p className="told">{counts}</p>}
    </Card>
  );
}

function Bar({ run, height }: { run: InstanceView; height: number }) {
  const { t } = useTranslation("states");
  const took =
    run.duration_ms === null || run.duration_ms === undefined ? "" : `, ${duration(run.duration_ms)}`;
  const said = `${dateTime(run.fire_time)}, ${t(run.state as State)}${took}`;
  return (
    <Link
      to="/instances/$instance"
      params={{ instance: run.id }}
      className={`bar tone-${toneOf(run.state as State)}`}
      style={{ height }}
      title={said}
      aria-label={said}
    />
  );
}
