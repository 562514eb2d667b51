import { useTranslation } from "react-i18next";
import type { CellRetentionView, DayPlace, RetentionDayView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { size } from "../../parts/sizes";
import { Timestamp } from "../../parts/Timestamp";
import { type DayRun, dayRunsOf, PLACE_TONES } from "./days";

/** The days of a cell: how far its archive is behind, where its days are, and what was dropped. */
export function CellDays({ cell }: { cell: CellRetentionView }) {
  const { t } = useTranslation("retention");
  const title = t("cell.title", { cell: cell.cell });
  return (
    <Card title={title} id={`cell-${cell.cell}`}>
      <Lag cell={cell} />
      <RunTable caption={title} runs={dayRunsOf(cell.days)} />
      {cell.dropped.map((one) => (
        <p className="soft" key={one.table}>
          {t("cell.dropped", { table: one.table, day: one.kept_since })}{" "}
          <Timestamp at={one.dropped_at} relative />
        </p>
      ))}
      {cell.days.length > 0 && <EachDay caption={title} days={cell.days} />}
    </Card>
  );
}

/** How far the archive is behind, and why. */
function Lag({ cell }: { cell: CellRetentionView }) {
  const { t } = useTranslation("retention");
  if (!cell.measured_at) return <p className="soft">{t("terms.unmeasured")}</p>;
  const lag = cell.lag;
  const measured = (
    <span className="soft">
      {" "}
      {t("cell.measured")} <Timestamp at={cell.measured_at} relative />
    </span>
  );
  if (!lag) {
    return (
      <p>
        {t("lag.none")}
        {measured}
      </p>
    );
  }
  return (
    <p className={`banner tone-${lag.reason === "FAILED" ? "bad" : lag.reason === "DUE" ? "idle" : "warn"}`}>
      {t("lag.days", { days: lag.days, oldest: lag.oldest })}{" "}
      {t(`lag.${lag.reason}`, { failure: lag.failure, subscriptions: lag.subscriptions.join(", ") })}
      {measured}
    </p>
  );
}

function Place({ place }: { place: DayPlace }) {
  const { t } = useTranslation("retention");
  return <span className={`state tone-${PLACE_TONES[place]}`}>{t(`places.${place}`)}</span>;
}

function RunTable({ caption, runs }: { caption: string; runs: DayRun[] }) {
  const { t } = useTranslation("retention");
  const columns: Column<DayRun>[] = [
    {
      title: t("days.days"),
      kind: "tight",
      show: (one) => (one.first === one.last ? one.first : `${one.first} – ${one.last}`),
    },
    { title: t("days.count"), kind: "number", show: (one) => one.days },
    { title: t("days.place"), show: (one) => <Place place={one.place} /> },
    { title: t("days.stored"), kind: "number", show: (one) => sizeOrDash(one.bytes) },
    { title: t("days.archived"), kind: "number", show: (one) => sizeOrDash(one.archivedBytes) },
    { title: t("days.rows"), kind: "number", show: (one) => one.archivedRows?.toLocaleString("en") ?? "–" },
  ];
  return (
    <DataTable
      caption={caption}
      columns={columns}
      items={runs}
      id={(one) => `${one.first} ${one.place}`}
      empty={<p className="soft">{t("cell.none")}</p>}
    />
  );
}

function EachDay({ caption, days }: { caption: string; days: RetentionDayView[] }) {
  const { t } = useTranslation("retention");
  const columns: Column<RetentionDayView>[] = [
    { title: t("days.day"), kind: "tight", show: (one) => one.day },
    { title: t("days.place"), show: (one) => <Place place={one.place} /> },
    { title: t("days.stored"), kind: "number", show: (one) => sizeOrDash(one.bytes) },
    { title: t("days.archived"), kind: "number", show: (one) => sizeOrDash(one.archived_bytes) },
    { title: t("days.archivedAt"), kind: "tight", show: (one) => <TimeOrDash at={one.archived_at} /> },
    { title: t("days.droppedAt"), kind: "tight", show: (one) => <TimeOrDash at={one.dropped_at} /> },
  ];
  return (
    <details>
      <summary>{t("days.each", { count: days.length })}</summary>
      <DataTable
        caption={t("days.eachOf", { title: caption })}
        columns={columns}
        items={[...days].reverse()}
        id={(one) => one.day}
      />
    </details>
  );
}

const sizeOrDash = (bytes: number | null | undefined): string =>
  bytes === null || bytes === undefined ? "–" : size(bytes);

function TimeOrDash({ at }: { at: string | null | undefined }) {
  return at ? <Timestamp at={at} /> : "–";
}
