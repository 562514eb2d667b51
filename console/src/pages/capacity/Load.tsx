import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { HealthSeriesView, MeasuredCapacityView } from "../../api/generated/models";
import { CopyableText } from "../../parts/CopyableText";
import { type Column, DataTable } from "../../parts/DataTable";
import { Figure } from "../../parts/Figure";
import { Card } from "../../parts/Page";
import { ShareBar } from "../../parts/ShareBar";
import { Timestamp } from "../../parts/Timestamp";
import { fireRatesOf, loadShare, type PartLoad, partLoadsOf, planCommand, toneOfShare } from "./load";

/** The fires of the last day beside what all cells and nodes bear by the benchmarks. */
export function Load({ measured, cells, nodes, series }: LoadProps) {
  const { t } = useTranslation("capacity");
  const rates = fireRatesOf(series);
  const minutes = series.stepSeconds / 60;
  const columns: Column<PartLoad>[] = [
    { title: t("load.part"), show: (one) => t(`load.${one.part}`, { count: one.count }) },
    { title: t("load.share"), show: (one) => <PeakShare peak={rates.peak} load={one} /> },
    { title: t("load.each"), kind: "number", show: (one) => rate(one.each) },
    { title: t("load.source"), show: (one) => <code>{one.source}</code> },
  ];
  return (
    <Card title={t("load.title")}>
      <dl className="figures">
        <Figure name={t("load.peak", { minutes })}>
          <Link to="/">{rate(rates.peak)}</Link>
        </Figure>
        <Figure name={t("load.peakAt")}>{rates.peakAt ? <Timestamp at={rates.peakAt} /> : "–"}</Figure>
        <Figure name={t("load.mean")}>{rate(rates.mean)}</Figure>
      </dl>
      <p className="soft">{t("load.about", { percent: Math.round((measured.max_load_share ?? 1) * 100) })}</p>
      <DataTable
        caption={t("load.title")}
        columns={columns}
        items={partLoadsOf(measured, cells, nodes)}
        id={(one) => one.part}
      />
      <p className="soft">
        {t("load.jobs", { jobs: measured.cell_jobs?.toLocaleString("en"), source: measured.jobs_source })}
      </p>
      <p>{t("load.plan")}</p>
      <CopyableText text={planCommand(null, rates)} />
    </Card>
  );
}

interface LoadProps {
  measured: MeasuredCapacityView;
  cells: number;
  nodes: number;
  series: HealthSeriesView;
}

function PeakShare({ peak, load }: { peak: number; load: PartLoad }) {
  const { t } = useTranslation("capacity");
  const share = loadShare(peak, load);
  const text = t("load.text", {
    peak: rate(peak),
    bears: rate(load.bears),
    percent: (share * 100).toFixed(1),
  });
  return <ShareBar share={share} tone={toneOfShare(share)} text={text} />;
}

/** Formats fires a second with two decimals below ten. */
const rate = (value: number): string =>
  `${(value < 10 ? Math.round(value * 100) / 100 : Math.round(value)).toLocaleString("en")}/s`;
