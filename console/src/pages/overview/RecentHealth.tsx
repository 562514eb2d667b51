import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { useTranslation } from "react-i18next";
import { getSchedulerSeries } from "../../api/generated/client";
import type { HealthPointView } from "../../api/generated/models";
import { useHealth } from "../../app/health/useHealth";
import { Chart } from "../../parts/charts/Chart";
import { type ChartSeries, timeChartOf } from "../../parts/charts/time-chart";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";
import { formatTotals, isOutdated, totalsOf } from "./totals";

const REFRESH_MS = 30_000;

/** Charts of the last 24 hours: trigger delay, outcomes, retry backlog and dead letters. */
export function RecentHealth() {
  const { t } = useTranslation(["overview", "states"]);
  const query = useQuery({
    queryKey: ["series"],
    queryFn: ({ signal }) => getSchedulerSeries({ hours: 24, points: 96 }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const { summary } = useHealth();
  const points = query.data?.points;
  const totals = totalsOf(points ?? []);
  const texts = formatTotals(totals);
  const outdated = isOutdated(points, summary);
  const { refetch } = query;
  const fires = summary?.fires10m;
  // biome-ignore lint/correctness/useExhaustiveDependencies: read again once for each outdated count
  useEffect(() => {
    if (outdated) refetch();
  }, [outdated, fires, refetch]);
  if (query.error && !points)
    return (
      <Card title={t("recent.title")}>
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      </Card>
    );
  return (
    <div className="charts">
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      <Card title={t("recent.delay")}>
        <TimeChart
          points={points}
          kind="line"
          unit="ms"
          label={t("recent.delaySummary", { most: duration(totals.maxDelayMs) })}
          series={[["recent.p95", "busy", (one) => one.triggerDelayP95Ms]]}
        />
      </Card>
      <Card title={t("recent.outcomes")}>
        <TimeChart
          points={points}
          kind="bar"
          label={t("recent.outcomesSummary", texts)}
          series={[
            ["states:SUCCESS", "good", (one) => one.success],
            ["states:FAIL", "warn", (one) => one.failed],
            ["states:DEAD", "bad", (one) => one.dead],
            ["states:SKIPPED", "idle", (one) => one.skipped],
          ]}
        />
      </Card>
      <Card title={t("recent.retries")}>
        <TimeChart
          points={points}
          kind="line"
          label={t("recent.retriesSummary", { most: texts.maxRetries })}
          series={[["recent.retries", "warn", (one) => one.retryBacklog]]}
        />
      </Card>
      <Card title={t("recent.deadLetters")}>
        <TimeChart
          points={points}
          kind="bar"
          label={t("recent.deadLettersSummary", { dead: texts.dead })}
          series={[["recent.deadLetters", "bad", (one) => one.dead]]}
        />
      </Card>
    </div>
  );
}

type SeriesSpec = [
  name:
    | "recent.p95"
    | "recent.retries"
    | "recent.deadLetters"
    | "states:SUCCESS"
    | "states:FAIL"
    | "states:DEAD"
    | "states:SKIPPED",
  colour: string,
  value: (one: HealthPointView) => number,
];

function TimeChart({ points, kind, label, series, unit = "" }: TimeChartProps) {
  const { t } = useTranslation(["overview", "states"]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the series of a chart never change, their texts do
  const draw = useMemo(() => {
    const known = points ?? [];
    const chartSeries = series.map(
      ([name, colour, value]): ChartSeries => ({ name: t(name), colour, values: known.map(value) }),
    );
    return timeChartOf(
      known.map((one) => one.at),
      kind,
      chartSeries,
      unit,
    );
  }, [points, t]);
  return (
    <>
      <p className="summary">{label}</p>
      <Chart label={label} height={170} draw={draw} />
    </>
  );
}

interface TimeChartProps {
  points: HealthPointView[] | undefined;
  kind: "line" | "bar";
  label: string;
  series: SeriesSpec[];
  unit?: string;
}
