import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { EChartsOption } from "echarts";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { getForecast } from "../../api/generated/client";
import type { BusiestSecond, ForecastView } from "../../api/generated/models";
import { Chart, type Colours } from "../../parts/charts/Chart";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { heatmapOf } from "./heatmap";

const REFRESH_MS = 300_000;
const ROW_HEIGHT_PX = 12;

/**
 * The load forecast of the next 24 hours: fires per minute, the busiest seconds, and their jobs. It covers one tenant;
 * `tenant` names it where the other figures of the page cover all tenants.
 */
export function Forecast({ tenant }: { tenant?: string }) {
  const { t } = useTranslation("overview");
  const query = useQuery({
    queryKey: ["forecast"],
    queryFn: ({ signal }) => getForecast({ hours: 24 }, { signal }),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
  return (
    <Card title={tenant ? t("forecast.titleOnly", { tenant }) : t("forecast.title")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.data && (query.data.total > 0 ? <ForecastChart forecast={query.data} /> : <EmptyForecast />)}
    </Card>
  );
}

function EmptyForecast() {
  const { t } = useTranslation("overview");
  return (
    <EmptyState
      title={t("forecast.none")}
      help={t("forecast.emptyHelp")}
      line="horae job create coupon_job --cron '0 */5 * * * ?' --url https://example.com/hooks/coupons"
    />
  );
}

function ForecastChart({ forecast }: { forecast: ForecastView }) {
  const { t } = useTranslation("overview");
  const heatmap = useMemo(() => heatmapOf(forecast.since, forecast.per_minute), [forecast]);
  const label = t("forecast.summary", {
    total: forecast.total.toLocaleString(),
    most: heatmap.most.toLocaleString(),
  });
  const draw = useMemo(() => {
    const unit = t("forecast.fires");
    return (colour: Colours): EChartsOption => ({
      grid: { left: 4, right: 8, top: 4, bottom: 4, containLabel: true },
      tooltip: {
        renderMode: "richText",
        backgroundColor: colour("raised"),
        borderColor: colour("line-strong"),
        textStyle: { color: colour("text") },
        formatter: (one) => {
          const [minute, row, fires] = (one as unknown as { value: [number, number, number] }).value;
          return `${heatmap.hours[row]?.slice(0, 3)}${String(minute).padStart(2, "0")}  ${fires.toLocaleString()} ${unit}`;
        },
      },
      visualMap: {
        show: false,
        min: 0,
        max: Math.max(1, heatmap.most),
        inRange: { color: [colour("ground"), colour("busy-ground"), colour("busy")] },
      },
      xAxis: {
        type: "category",
        data: Array.from({ length: 60 }, (_, minute) => `:${String(minute).padStart(2, "0")}`),
        axisLabel: { color: colour("soft"), interval: 4, hideOverlap: true },
        axisTick: { show: false },
        axisLine: { show: false },
      },
      yAxis: {
        type: "category",
        data: heatmap.hours,
        inverse: true,
        axisLabel: { color: colour("soft"), interval: 2 },
        axisTick: { show: false },
        axisLine: { show: false },
      },
      series: [
        {
          type: "heatmap",
          progressive: 0,
          data: heatmap.cells,
          itemStyle: { borderWidth: 1, borderColor: colour("paper") },
        },
      ],
    });
  }, [heatmap, t]);
  return (
    <>
      <p className="summary">{label}</p>
      <Chart label={label} height={heatmap.hours.length * ROW_HEIGHT_PX + 30} draw={draw} />
      <h3 className="busiest">{t("forecast.busiest")}</h3>
      <BusiestSeconds seconds={forecast.worst} />
    </>
  );
}

function BusiestSeconds({ seconds }: { seconds: BusiestSecond[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<BusiestSecond>[] = [
    { title: t("forecast.second"), kind: "tight", show: (one) => <Timestamp at={one.at} /> },
    { title: t("forecast.count"), kind: "number", show: (one) => one.fires.toLocaleString() },
    { title: t("forecast.jobs"), show: (one) => <JobLinks one={one} /> },
  ];
  return (
    <DataTable
      caption={t("forecast.busiest")}
      columns={columns}
      items={seconds.slice(0, 5)}
      id={(one) => one.at}
    />
  );
}

function JobLinks({ one }: { one: BusiestSecond }) {
  const { t } = useTranslation("overview");
  const names = one.jobs ?? [];
  return (
    <span className="names">
      {names.map((name) => (
        <Link key={name} to="/jobs/$job" params={{ job: name }}>
          {name}
        </Link>
      ))}
      {one.fires > names.length && (
        <span className="soft">{t("forecast.more", { count: one.fires - names.length })}</span>
      )}
    </span>
  );
}
