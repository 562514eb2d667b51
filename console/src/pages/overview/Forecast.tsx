import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getForecast } from "../../api/generated/client";
import type { BusiestSecond } from "../../api/generated/models";
import { ForecastChart } from "../../parts/charts/ForecastChart";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";

const REFRESH_MS = 300_000;

/**
 * The load forecast of the next 24 hours: fires per minute, the busiest seconds, and their jobs. It covers one tenant;
 * `tenant` names it where the other figures of the page cover all tenants. A minute and a second lead to their jobs.
 */
export function Forecast({ tenant }: { tenant?: string }) {
  const { t } = useTranslation("overview");
  const navigate = useNavigate();
  const query = useQuery({
    queryKey: ["forecast"],
    queryFn: ({ signal }) => getForecast({ hours: 24 }, { signal }),
    refetchInterval: REFRESH_MS,
    staleTime: REFRESH_MS,
  });
  return (
    <Card title={tenant ? t("forecast.titleOnly", { tenant }) : t("forecast.title")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {query.data && query.data.total === 0 && <EmptyForecast />}
      {query.data && query.data.total > 0 && (
        <>
          <ForecastChart
            forecast={query.data}
            onMinute={(minute) => void navigate({ to: "/forecast", search: { minute } })}
          />
          <h3 className="busiest">{t("forecast.busiest")}</h3>
          <BusiestSeconds seconds={query.data.worst} />
        </>
      )}
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

function BusiestSeconds({ seconds }: { seconds: BusiestSecond[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<BusiestSecond>[] = [
    {
      title: t("forecast.second"),
      kind: "tight",
      show: (one) => (
        <Link to="/forecast" search={{ second: new Date(one.at).toISOString() }}>
          <Timestamp at={one.at} />
        </Link>
      ),
    },
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
