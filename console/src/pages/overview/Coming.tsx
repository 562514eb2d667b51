import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { EChartsOption } from "echarts";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { getForecast } from "../../api/generated/client";
import type { ForecastView, WorstSecond } from "../../api/generated/models";
import { Chart, type Colours } from "../../parts/charts/Chart";
import { Empty } from "../../parts/Empty";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { type Column, Rows } from "../../parts/Rows";
import { Trouble } from "../../parts/Trouble";
import { heat } from "./heat";

const FIVE_MINUTES = 300_000;
const ROW = 12;

/**
 * The load of the next 24 hours, before it comes: every minute, the worst seconds, and the jobs behind them. It is of one
 * tenant; `only` names it where the figures beside it are of all.
 */
export function Coming({ only }: { only?: string }) {
  const { t } = useTranslation("overview");
  const asked = useQuery({
    queryKey: ["forecast"],
    queryFn: ({ signal }) => getForecast({ hours: 24 }, { signal }),
    refetchInterval: FIVE_MINUTES,
    staleTime: FIVE_MINUTES,
  });
  return (
    <Card title={only ? t("coming.titleOnly", { tenant: only }) : t("coming.title")}>
      {asked.error && <Trouble error={asked.error} onAgain={asked.refetch} />}
      {asked.data && (asked.data.total > 0 ? <Field told={asked.data} /> : <Nothing />)}
    </Card>
  );
}

function Nothing() {
  const { t } = useTranslation("overview");
  return (
    <Empty
      title={t("coming.none")}
      help={t("coming.teach")}
      line="horae job create coupon_job --cron '0 */5 * * * ?' --url https://example.com/hooks/coupons"
    />
  );
}

function Field({ told }: { told: ForecastView }) {
  const { t } = useTranslation("overview");
  const field = useMemo(() => heat(told.since, told.per_minute), [told]);
  const label = t("coming.told", { total: told.total.toLocaleString(), most: field.most.toLocaleString() });
  const draw = useMemo(() => {
    const word = t("coming.fires");
    return (colour: Colours): EChartsOption => ({
      grid: { left: 4, right: 8, top: 4, bottom: 4, containLabel: true },
      tooltip: {
        renderMode: "richText",
        backgroundColor: colour("raised"),
        borderColor: colour("line-strong"),
        textStyle: { color: colour("text") },
        formatter: (one) => {
          const [minute, row, fires] = (one as unknown as { value: [number, number, number] }).value;
          return `${field.hours[row]?.slice(0, 3)}${String(minute).padStart(2, "0")}  ${fires.toLocaleString()} ${word}`;
        },
      },
      visualMap: {
        show: false,
        min: 0,
        max: Math.max(1, field.most),
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
        data: field.hours,
        inverse: true,
        axisLabel: { color: colour("soft"), interval: 2 },
        axisTick: { show: false },
        axisLine: { show: false },
      },
      series: [
        {
          type: "heatmap",
          progressive: 0,
          data: field.cells,
          itemStyle: { borderWidth: 1, borderColor: colour("paper") },
        },
      ],
    });
  }, [field, t]);
  return (
    <>
      <p className="told">{label}</p>
      <Chart label={label} height={field.hours.length * ROW + 30} draw={draw} />
      <h3 className="worst">{t("coming.worst")}</h3>
      <Worst told={told.worst} />
    </>
  );
}

function Worst({ told }: { told: WorstSecond[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<WorstSecond>[] = [
    { title: t("coming.second"), kind: "tight", show: (one) => <Moment at={one.at} /> },
    { title: t("coming.count"), kind: "number", show: (one) => one.fires.toLocaleString() },
    { title: t("coming.jobs"), show: (one) => <Behind one={one} /> },
  ];
  return <Rows caption={t("coming.worst")} columns={columns} items={told.slice(0, 5)} id={(one) => one.at} />;
}

function Behind({ one }: { one: WorstSecond }) {
  const { t } = useTranslation("overview");
  const named = one.jobs ?? [];
  return (
    <span className="names">
      {named.map((name) => (
        <Link key={name} to="/jobs/$job" params={{ job: name }}>
          {name}
        </Link>
      ))}
      {one.fires > named.length && (
        <span className="soft">{t("coming.more", { count: one.fires - named.length })}</span>
      )}
    </span>
  );
}
