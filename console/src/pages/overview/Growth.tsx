import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getSchedulerGrowth } from "../../api/generated/client";
import type { CellGrowthView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { size } from "../../parts/sizes";
import { bloatedTablesOf, fullTone, holdersOf } from "./growth";

const REFRESH_MS = 300_000;

/** How each cell grows, when its disk is full, and what holds days back. Platform users see it. */
export function Growth() {
  const { t } = useTranslation("overview");
  const query = useQuery({
    queryKey: ["growth"],
    queryFn: ({ signal }) => getSchedulerGrowth({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const { cells = [], unmeasured = [], cells_down: down = [] } = query.data ?? {};
  return (
    <Card title={t("growth.title")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {down.length > 0 && <p className="banner tone-bad">{t("cluster.down", { cells: down.join(", ") })}</p>}
      {unmeasured.length > 0 && (
        <p className="summary">{t("growth.unmeasured", { cells: unmeasured.join(", ") })}</p>
      )}
      {cells
        .filter((one) => one.held)
        .map((one) => (
          <HeldDays key={one.cell} cell={one} />
        ))}
      {cells.flatMap(bloatedTablesOf).map((one) => (
        <p key={`${one.cell} ${one.name}`} className="banner tone-warn">
          {t("growth.bloated", { ...one })}
        </p>
      ))}
      {query.data && <GrowthTable cells={cells} />}
    </Card>
  );
}

function HeldDays({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("overview");
  const held = cell.held;
  if (!held) return null;
  const holders = holdersOf(held, (number) => t("growth.compensations", { number }));
  return (
    <p className="banner tone-warn">
      {t("growth.held", { cell: cell.cell, days: held.days, oldest: held.oldest, holders })}
    </p>
  );
}

function GrowthTable({ cells }: { cells: CellGrowthView[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<CellGrowthView>[] = [
    { title: t("growth.cell"), show: (one) => one.cell },
    {
      title: t("growth.perDay"),
      kind: "number",
      show: (one) => (one.bytes_per_day === null ? t("growth.noDay") : size(one.bytes_per_day)),
    },
    { title: t("growth.database"), kind: "number", show: (one) => size(one.database_bytes) },
    { title: t("growth.full"), show: (one) => <DaysUntilFull cell={one} /> },
    { title: t("growth.oldest"), kind: "tight", show: (one) => one.oldest_day ?? "–" },
    { title: t("growth.kept"), kind: "number", show: (one) => one.kept_days },
    { title: t("growth.ahead"), kind: "number", show: (one) => one.days_ahead },
  ];
  return (
    <DataTable
      caption={t("growth.title")}
      columns={columns}
      items={cells}
      id={(one) => one.cell}
      empty={<EmptyState title={t("growth.none")} help={t("cluster.emptyHelp")} line="horae node" />}
    />
  );
}

function DaysUntilFull({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("overview");
  if (cell.disk_bytes === null) return <span className="soft">{t("growth.unknown")}</span>;
  const disk = size(cell.disk_bytes);
  const days = cell.days_until_full;
  if (days === null) return <>{t("growth.enough", { disk })}</>;
  return <span className={`state tone-${fullTone(days)}`}>{t("growth.fullIn", { days, disk })}</span>;
}
