import type { EChartsOption } from "echarts";
import { type KeyboardEvent, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import type { ForecastView } from "../../api/generated/models";
import { markedTime } from "../times";
import { displayZone } from "../zone";
import { Chart, type Colours } from "./Chart";
import { heatmapOf } from "./heatmap";

const ROW_HEIGHT_PX = 12;
const MINUTE_MS = 60_000;
/** The minutes that a key goes on. */
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -60, ArrowDown: 60 };

/**
 * The fires of each coming minute as a heatmap. A click on a cell chooses its minute; so do the arrow keys with Enter,
 * from the chosen or the busiest minute on.
 */
export function ForecastChart({ forecast, minute, onMinute }: ForecastChartProps) {
  const { t } = useTranslation("overview");
  const heatmap = useMemo(() => heatmapOf(forecast.since, forecast.per_minute), [forecast]);
  const begin = Math.floor(Date.parse(forecast.since) / MINUTE_MS);
  const last = forecast.per_minute.length - 1;
  const chosen = minute
    ? Math.min(last, Math.max(0, Math.floor(Date.parse(minute) / MINUTE_MS) - begin))
    : null;
  const [pointed, setPointed] = useState<number | null>(null);
  const current = pointed ?? chosen ?? forecast.per_minute.indexOf(heatmap.most);
  const at = new Date((begin + current) * MINUTE_MS).toISOString();
  const choose = (index: number) => onMinute(new Date((begin + index) * MINUTE_MS).toISOString());
  const label = t("forecast.summary", {
    total: forecast.total.toLocaleString(),
    most: heatmap.most.toLocaleString(),
  });
  const draw = useDrawing(heatmap, chosen);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (step === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (step === undefined) choose(current);
    else setPointed(Math.min(last, Math.max(0, current + step)));
  };
  return (
    <>
      <p className="summary">{label}</p>
      {/* biome-ignore lint/a11y/useSemanticElements: a button cannot hold a chart */}
      <div
        className="pick-minute"
        role="button"
        tabIndex={0}
        aria-label={t("forecast.pick", {
          at: markedTime(at, displayZone()),
          fires: forecast.per_minute[current] ?? 0,
        })}
        onKeyDown={onKeyDown}
      >
        <Chart
          label={label}
          height={heatmap.hours.length * ROW_HEIGHT_PX + 30}
          draw={draw}
          onPick={(index) => choose(index)}
        />
      </div>
      <p className="soft" role="status">
        {pointed === null
          ? t("forecast.pickHelp")
          : t("forecast.pointed", {
              at: markedTime(at, displayZone()),
              fires: forecast.per_minute[current] ?? 0,
            })}
      </p>
    </>
  );
}

interface ForecastChartProps {
  forecast: ForecastView;
  minute?: string;
  onMinute: (minute: string) => void;
}

function useDrawing(heatmap: ReturnType<typeof heatmapOf>, chosen: number | null) {
  const { t } = useTranslation("overview");
  return useMemo(() => {
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
          data: heatmap.cells.map((cell, index) =>
            index === chosen
              ? { value: cell, itemStyle: { borderWidth: 2, borderColor: colour("text") } }
              : cell,
          ),
          itemStyle: { borderWidth: 1, borderColor: colour("paper") },
        },
      ],
    });
  }, [heatmap, chosen, t]);
}
