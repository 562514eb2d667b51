import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getAlerts } from "../../api/generated/client";
import type { AlertView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { Actions } from "../alerts/Actions";
import { AlertJob, AlertLink } from "../alerts/Marks";

const REFRESH_MS = 15_000;
const MAX_ROWS = 5;

/** The newest open alerts, which can be acknowledged here. */
export function OpenAlertsCard() {
  const { t } = useTranslation(["onCall", "alerts"]);
  const query = useQuery({
    queryKey: ["alerts", "overview"],
    queryFn: ({ signal }) => getAlerts({ state: "OPEN", limit: MAX_ROWS }, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const columns: Column<AlertView>[] = [
    { title: t("alerts:columns.alert"), show: (alert) => <AlertLink alert={alert} /> },
    { title: t("alerts:columns.job"), show: (alert) => <AlertJob alert={alert} /> },
    { title: t("alerts:columns.owner"), show: (alert) => alert.owner ?? "–" },
    { title: t("alerts:columns.reason"), show: (alert) => alert.reason },
    {
      title: t("alerts:columns.since"),
      kind: "tight",
      show: (alert) => <Timestamp at={alert.opened_at} relative />,
    },
    {
      title: t("alerts:columns.actions"),
      kind: "tight",
      show: (alert) => <Actions alert={alert} size="small" />,
    },
  ];
  return (
    <Card title={t("alerts.title")} id="open-alerts">
      {query.error ? (
        <ErrorMessage error={query.error} onRetry={query.refetch} />
      ) : (
        <DataTable
          caption={t("alerts.title")}
          columns={columns}
          items={query.data?.items}
          id={(alert) => alert.id}
          empty={<p className="soft">{t("alerts.none")}</p>}
        />
      )}
      {query.data?.next && (
        <p>
          <Link to="/alerts">{t("alerts.more")}</Link>
        </p>
      )}
    </Card>
  );
}
