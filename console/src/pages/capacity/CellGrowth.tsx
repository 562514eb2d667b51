import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { CellGrowthView, TableSizeView } from "../../api/generated/models";
import { Chart } from "../../parts/charts/Chart";
import { type Column, DataTable } from "../../parts/DataTable";
import { Figure } from "../../parts/Figure";
import { Card } from "../../parts/Page";
import { ShareBar } from "../../parts/ShareBar";
import { size } from "../../parts/sizes";
import { Timestamp } from "../../parts/Timestamp";
import { fullTone } from "../overview/growth";
import { growthChartOf } from "./growth-chart";
import { fullOn, toneOfShare } from "./load";

const HEIGHT_PX = 160;

/** How a cell grows: its disk, the bytes of its days as a trend, and its tables whose rows change all the time. */
export function CellGrowth({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("capacity");
  const days = cell.days ?? [];
  const draw = useMemo(() => growthChartOf(days), [days]);
  const largest = Math.max(0, ...days.map((one) => one.bytes));
  const label = t("growth.chart", { cell: cell.cell, days: days.length, largest: size(largest) });
  const day = cell.bytes_per_day;
  return (
    <Card title={t("growth.of", { cell: cell.cell })} id={`growth-${cell.cell}`}>
      <dl className="figures">
        <Figure name={t("growth.database")}>{size(cell.database_bytes)}</Figure>
        <Figure name={t("growth.perDay")}>
          {day === null || day === undefined ? t("growth.noDay") : size(day)}
        </Figure>
        <Figure name={t("growth.full")} tone={tone(cell)}>
          <FullOn cell={cell} />
        </Figure>
        <Figure name={t("growth.kept")}>
          <Link to="/retention" hash={`cell-${cell.cell}`}>
            {t("growth.days", { count: cell.kept_days })}
          </Link>
        </Figure>
      </dl>
      <Disk cell={cell} />
      <p className="soft">
        {label} {t("growth.measured")} <Timestamp at={cell.measured_at} relative />
      </p>
      {largest > 0 && <Chart label={label} height={HEIGHT_PX} draw={draw} />}
      <Tables cell={cell} />
    </Card>
  );
}

const tone = (cell: CellGrowthView) =>
  typeof cell.days_until_full === "number" ? fullTone(cell.days_until_full) : "idle";

function FullOn({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("capacity");
  const day = fullOn(cell);
  if (day) return t("growth.fullOn", { day, days: cell.days_until_full });
  return t(cell.disk_bytes && cell.bytes_per_day ? "growth.notWithinYear" : "growth.unknown");
}

function Disk({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("capacity");
  if (!cell.disk_bytes) return <p className="soft">{t("growth.noDisk")}</p>;
  const share = cell.database_bytes / cell.disk_bytes;
  const text = t("growth.disk", {
    used: size(cell.database_bytes),
    disk: size(cell.disk_bytes),
    percent: Math.floor(share * 100),
  });
  return (
    <p>
      <ShareBar share={share} tone={toneOfShare(share)} text={text} />
    </p>
  );
}

function Tables({ cell }: { cell: CellGrowthView }) {
  const { t } = useTranslation("capacity");
  const columns: Column<TableSizeView>[] = [
    { title: t("tables.name"), show: (one) => <code>{one.name}</code> },
    { title: t("tables.size"), kind: "number", show: (one) => size(one.bytes) },
    { title: t("tables.live"), kind: "number", show: (one) => one.live_rows.toLocaleString("en") },
    { title: t("tables.dead"), kind: "number", show: (one) => one.dead_rows.toLocaleString("en") },
    {
      title: t("tables.state"),
      show: (one) => (
        <span className={`state tone-${one.bloated ? "warn" : "good"}`}>
          {t(one.bloated ? "tables.bloated" : "tables.well")}
        </span>
      ),
    },
  ];
  return (
    <details>
      <summary>{t("tables.title")}</summary>
      <DataTable
        caption={t("tables.of", { cell: cell.cell })}
        columns={columns}
        items={cell.tables}
        id={(one) => one.name}
      />
    </details>
  );
}
