import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { getAlerts } from "../../api/generated/client";
import type { AlertView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";
import { Actions } from "./Actions";
import type { State } from "./filters";
import { AlertJob, AlertLink, AlertStateMarks } from "./Marks";

const route = getRouteApi("/alerts");
const REFRESH_MS = 5_000;
const RESOLVED_REFRESH_MS = 15_000;
const PAGE_SIZE = 20;
const NAMES = { OPEN: "open", ACKNOWLEDGED: "acknowledged", RESOLVED: "resolved" } as const;

/** The alerts of one state. `hideEmpty`: nothing is shown while there are none. */
export function AlertList({ state, empty, hideEmpty }: AlertListProps) {
  const { t } = useTranslation("alerts");
  const filters = route.useSearch();
  const navigate = route.useNavigate();
  const name = NAMES[state];
  const { kind, job, [name]: cursor } = filters;
  const query = useQuery({
    queryKey: ["alerts", state, kind, job, cursor],
    queryFn: ({ signal }) => getAlerts({ state, kind, job, cursor, limit: PAGE_SIZE }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: state === "RESOLVED" ? RESOLVED_REFRESH_MS : REFRESH_MS,
  });
  const columns = useColumns(state);
  if (hideEmpty && !query.error && !cursor && !query.data?.items.length) return null;
  return (
    <Card title={t(`${name}.title`)} id={name}>
      <PagedTable<AlertView>
        list={`alerts-${name}`}
        read={(from, signal) =>
          getAlerts({ state, kind, job, cursor: from, limit: MAX_PAGE_SIZE }, { signal })
        }
        query={query}
        caption={t(`${name}.title`)}
        columns={columns}
        id={(alert) => alert.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { ...filters, [name]: next } })}
        empty={empty}
      />
    </Card>
  );
}

interface AlertListProps {
  state: State;
  empty: ReactNode;
  hideEmpty?: boolean;
}

function useColumns(state: State): Column<AlertView>[] {
  const { t } = useTranslation("alerts");
  const columns: Column<AlertView>[] = [
    { id: "alert", title: t("columns.alert"), show: (alert) => <AlertLink alert={alert} /> },
    { id: "job", title: t("columns.job"), show: (alert) => <AlertJob alert={alert} /> },
    { id: "owner", title: t("columns.owner"), show: (alert) => alert.owner ?? "–" },
    { id: "reason", title: t("columns.reason"), show: (alert) => alert.reason },
    { id: "count", title: t("columns.count"), kind: "number", show: (alert) => alert.count.toLocaleString() },
    {
      id: "since",
      title: t("columns.since"),
      kind: "tight",
      show: (alert) => <Timestamp at={alert.opened_at} relative={state !== "RESOLVED"} />,
    },
  ];
  if (state === "RESOLVED")
    columns.push({
      id: "resolvedAt",
      title: t("columns.resolvedAt"),
      kind: "tight",
      show: (alert) => <Timestamp at={alert.resolved_at} />,
    });
  columns.push({
    id: "state",
    title: t("columns.state"),
    kind: "tight",
    show: (alert) => <AlertStateMarks alert={alert} />,
  });
  if (state !== "RESOLVED")
    columns.push({
      id: "actions",
      title: t("columns.actions"),
      kind: "tight",
      show: (alert) => <Actions alert={alert} size="small" />,
    });
  return columns;
}
