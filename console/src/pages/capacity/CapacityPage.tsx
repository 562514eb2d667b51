import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getNodes, getSchedulerGrowth, getSchedulerSeries } from "../../api/generated/client";
import type { GrowthView } from "../../api/generated/models";
import { CellsDown } from "../../parts/CellsDown";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { CellGrowth } from "./CellGrowth";
import { Load } from "./Load";

const GROWTH_REFRESH_MS = 300_000;
const LOAD_REFRESH_MS = 60_000;
const HOURS = 24;
const POINTS = 288;

/** How each cell grows and when its disk is full, and the load of the last day beside what benchmarks measured. */
export function CapacityPage() {
  const { t } = useTranslation("capacity");
  const growth = useQuery({
    queryKey: ["growth"],
    queryFn: ({ signal }) => getSchedulerGrowth({ signal }),
    refetchInterval: GROWTH_REFRESH_MS,
  });
  const series = useQuery({
    queryKey: ["series", HOURS, POINTS],
    queryFn: ({ signal }) => getSchedulerSeries({ hours: HOURS, points: POINTS }, { signal }),
    refetchInterval: LOAD_REFRESH_MS,
  });
  const nodes = useQuery({
    queryKey: ["nodes"],
    queryFn: ({ signal }) => getNodes({ signal }),
    refetchInterval: LOAD_REFRESH_MS,
  });
  const error = growth.error ?? series.error ?? nodes.error;
  return (
    <Page title={t("title")} actions={<Link to="/retention">{t("retention")}</Link>}>
      <p className="soft">{t("about")}</p>
      {error && <ErrorMessage error={error} onRetry={() => void growth.refetch()} />}
      <CellsDown cells={growth.data?.cells_down} />
      {!error && !(growth.data && series.data && nodes.data) && <Loading />}
      {growth.data?.measured && series.data && nodes.data && (
        <Load
          measured={growth.data.measured}
          cells={cellCount(growth.data)}
          nodes={new Set(nodes.data.nodes.filter((one) => one.alive).map((one) => one.name)).size}
          series={series.data}
        />
      )}
      {growth.data && <Cells growth={growth.data} />}
    </Page>
  );
}

const cellCount = (growth: GrowthView): number => growth.cells.length + growth.unmeasured.length;

function Cells({ growth }: { growth: GrowthView }) {
  const { t } = useTranslation("capacity");
  return (
    <>
      {growth.unmeasured.length > 0 && (
        <p className="soft">{t("unmeasured", { cells: growth.unmeasured.join(", ") })}</p>
      )}
      {growth.cells.map((cell) => (
        <CellGrowth key={cell.cell} cell={cell} />
      ))}
      {growth.cells.length === 0 && (
        <Card title={t("growth.title")}>
          <EmptyState title={t("growth.none")} help={t("growth.noneHelp")} line="horae node" />
        </Card>
      )}
    </>
  );
}
