import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getServiceLevel } from "../../api/generated/client";
import type { CellLevelView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Card } from "../../parts/Page";
import { duration } from "../../parts/times";
import { levelFiguresOf, shareText } from "./level";

const REFRESH_MS = 30_000;

/** How many due times of 30 days were in time, what is left of the error budget, and how fast it burns. */
export function ServiceLevel() {
  const { t } = useTranslation("overview");
  const query = useQuery({
    queryKey: ["service-level"],
    queryFn: ({ signal }) => getServiceLevel({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const level = query.data;
  const down = level?.cells_down ?? [];
  return (
    <Card title={t("level.title")}>
      {query.error && <ErrorMessage error={query.error} onRetry={query.refetch} />}
      {down.length > 0 && <p className="banner tone-bad">{t("cluster.down", { cells: down.join(", ") })}</p>}
      {level && (
        <>
          <p className="summary">
            {level.total.expected === 0
              ? t("level.none")
              : t("level.summary", {
                  share: shareText(level.total.availability ?? null),
                  expected: level.total.expected.toLocaleString("en"),
                  limit: duration(level.in_time_seconds * 1_000),
                  objective: shareText(level.objective),
                })}
          </p>
          <dl className="figures">
            {levelFiguresOf(level.total).map((one) => (
              <div key={one.name} className={`figure tone-${one.tone}`}>
                <dt>{t(`level.${one.name}`)}</dt>
                <dd>{one.text}</dd>
              </div>
            ))}
          </dl>
          {level.parts.length > 1 && <LevelTable parts={level.parts} />}
        </>
      )}
    </Card>
  );
}

function LevelTable({ parts }: { parts: CellLevelView[] }) {
  const { t } = useTranslation("overview");
  const columns: Column<CellLevelView>[] = [
    { title: t("level.cell"), show: (one) => one.cell },
    { title: t("level.priority"), kind: "tight", show: (one) => t(`level.${one.priority as Priority}`) },
    { title: t("level.expected"), kind: "number", show: (one) => one.expected.toLocaleString("en") },
    { title: t("level.late"), kind: "number", show: (one) => one.late.toLocaleString("en") },
    { title: t("level.share"), kind: "number", show: (one) => shareText(one.availability ?? null) },
    { title: t("level.budget"), kind: "number", show: (one) => shareText(one.budget_remaining, 1) },
  ];
  return (
    <DataTable
      caption={t("level.classes")}
      columns={columns}
      items={parts}
      id={(one) => `${one.cell} ${one.priority}`}
      empty={null}
    />
  );
}

type Priority = "critical" | "normal" | "low";
