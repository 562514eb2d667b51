import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getForecast, getForecastWorst } from "../../api/generated/client";
import type { BusySecondView } from "../../api/generated/models";
import { ForecastChart } from "../../parts/charts/ForecastChart";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { markedTime } from "../../parts/times";
import { BusyJobs } from "./BusyJobs";
import "./forecast.css";

const HOURS = 24;
const MOST_SECONDS = 10;
const MOST_JOBS = 200;
const REFRESH_MS = 300_000;

/** The forecast: from the heatmap to the busiest seconds of a minute, to their jobs, and to a plan that spreads them. */
export function ForecastPage() {
  const { t } = useTranslation("forecast");
  const { minute, second } = useSearch({ from: "/forecast" });
  const navigate = useNavigate();
  const load = useQuery({
    queryKey: ["forecast"],
    queryFn: ({ signal }) => getForecast({ hours: HOURS }, { signal }),
    staleTime: REFRESH_MS,
  });
  const busiest = useQuery({
    queryKey: ["forecast", "busiest", minute ?? ""],
    queryFn: ({ signal }) =>
      getForecastWorst({ hours: HOURS, minute, seconds: MOST_SECONDS, jobs: MOST_JOBS }, { signal }),
    staleTime: REFRESH_MS,
  });
  const seconds = busiest.data?.seconds ?? [];
  const chosen = seconds.find((one) => Date.parse(one.at) === Date.parse(second ?? "")) ?? seconds[0];
  return (
    <Page title={t("title")} actions={<Link to="/">{t("overview")}</Link>}>
      <Card title={t("heatmap")}>
        {load.error && <ErrorMessage error={load.error} onRetry={load.refetch} />}
        {load.isPending && <Loading />}
        {load.data && load.data.total === 0 && <p className="soft">{t("none")}</p>}
        {load.data && load.data.total > 0 && (
          <ForecastChart
            forecast={load.data}
            minute={minute}
            onMinute={(chosenMinute) => void navigate({ to: "/forecast", search: { minute: chosenMinute } })}
          />
        )}
      </Card>
      <Card title={minute ? t("secondsOf", { minute: markedTime(minute) }) : t("seconds")}>
        {busiest.error && <ErrorMessage error={busiest.error} onRetry={busiest.refetch} />}
        {minute && (
          <p>
            <Link to="/forecast">{t("allMinutes")}</Link>
          </p>
        )}
        {!busiest.error && <Seconds seconds={busiest.data?.seconds} minute={minute} chosen={chosen?.at} />}
        {busiest.data && !busiest.data.complete && <p className="soft">{t("incomplete")}</p>}
      </Card>
      {chosen && <BusyJobs key={chosen.at} second={chosen} hours={HOURS} />}
    </Page>
  );
}

function Seconds({ seconds, minute, chosen }: SecondsProps) {
  const { t } = useTranslation("forecast");
  const columns: Column<BusySecondView>[] = [
    {
      title: t("second"),
      kind: "tight",
      show: (one) => (
        <Link
          to="/forecast"
          search={{ minute, second: new Date(one.at).toISOString() }}
          aria-current={one.at === chosen ? "true" : undefined}
          resetScroll={false}
        >
          <Timestamp at={one.at} />
        </Link>
      ),
    },
    { title: t("fires"), kind: "number", show: (one) => one.fires.toLocaleString() },
    { title: t("owners"), show: (one) => <Owners second={one} /> },
  ];
  return (
    <DataTable
      caption={t("seconds")}
      columns={columns}
      items={seconds}
      id={(one) => one.at}
      empty={<p className="soft">{t("quiet")}</p>}
    />
  );
}

interface SecondsProps {
  seconds: BusySecondView[] | undefined;
  minute?: string;
  chosen?: string;
}

/** The owners of the jobs of a second, the one with the most jobs first. */
function Owners({ second }: { second: BusySecondView }) {
  const { t } = useTranslation("forecast");
  const counts = new Map<string, number>();
  for (const job of second.jobs) {
    const owner = job.owner ?? t("noOwner");
    counts.set(owner, (counts.get(owner) ?? 0) + 1);
  }
  const owners = [...counts].sort(([, one], [, other]) => other - one).slice(0, 3);
  return <>{owners.map(([owner, count]) => `${owner} (${count})`).join(", ")}</>;
}
