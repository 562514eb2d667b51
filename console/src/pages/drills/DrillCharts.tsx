import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import type { DrillView } from "../../api/generated/models";
import { Chart } from "../../parts/charts/Chart";
import { Card } from "../../parts/Page";
import { secondsText } from "../../parts/times";
import { drillChartOf, type Measure, maximumOf } from "./drill-chart";
import "./drills.css";

const HEIGHT_PX = 190;

/** RTO and RPO of the listed drills over time, a line for each kind. */
export function DrillCharts({ drills }: { drills: DrillView[] }) {
  return (
    <div className="drill-charts">
      <MeasureChart drills={drills} measure="rto_s" />
      <MeasureChart drills={drills} measure="rpo_s" />
    </div>
  );
}

function MeasureChart({ drills, measure }: { drills: DrillView[]; measure: Measure }) {
  const { t } = useTranslation("drills");
  const draw = useMemo(
    () => drillChartOf(drills, measure, (kind) => t(`kinds.${kind}`)),
    [drills, measure, t],
  );
  const maximum = maximumOf(drills, measure);
  const label = t(`charts.${measure}.summary`, {
    drills: drills.length,
    maximum: maximum === null ? "–" : secondsText(maximum),
  });
  return (
    <Card title={t(`charts.${measure}.title`)}>
      <p className="soft">{label}</p>
      <Chart label={label} height={HEIGHT_PX} draw={draw} />
    </Card>
  );
}
