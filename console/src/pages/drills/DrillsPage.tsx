import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getDrills } from "../../api/generated/client";
import type { DrillView } from "../../api/generated/models";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { TextWithCommands } from "../../parts/TextWithCommands";
import { Timestamp } from "../../parts/Timestamp";
import { secondsText } from "../../parts/times";
import { DrillCharts } from "./DrillCharts";

const route = getRouteApi("/drills");

/** The history of drills, the newest first, and their RTO and RPO over time. Platform users see it. */
export function DrillsPage() {
  const { t } = useTranslation("drills");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery({
    queryKey: ["drills", cursor],
    queryFn: ({ signal }) => getDrills({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  const columns = useColumns();
  const drills = query.data?.items;
  return (
    <Page title={t("title")}>
      <p className="soft">
        <TextWithCommands text={t("about")} />
      </p>
      {drills && drills.length > 0 && <DrillCharts drills={drills} />}
      <PagedTable<DrillView>
        query={query}
        caption={t("title")}
        columns={columns}
        id={(drill) => `${drill.kind} ${drill.began_at}`}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={
          <EmptyState
            title={t("empty.title")}
            help={t("empty.help")}
            line="horae drill outage-of-targets --reason 'monthly drill'"
          />
        }
      />
    </Page>
  );
}

function useColumns(): Column<DrillView>[] {
  const { t } = useTranslation("drills");
  return [
    { title: t("columns.kind"), kind: "tight", show: (drill) => t(`kinds.${drill.kind}`) },
    { title: t("columns.result"), show: (drill) => <Result drill={drill} /> },
    {
      title: t("columns.rto"),
      kind: "number",
      show: (drill) => <Seconds value={drill.rto_s} target={drill.rto_target_s} unknown={t("notReached")} />,
    },
    {
      title: t("columns.rpo"),
      kind: "number",
      show: (drill) => <Seconds value={drill.rpo_s} target={drill.rpo_target_s} unknown={t("notKnown")} />,
    },
    { title: t("columns.reason"), show: (drill) => <Reason drill={drill} /> },
    { title: t("columns.beganAt"), kind: "tight", show: (drill) => <Timestamp at={drill.began_at} /> },
    { title: t("columns.brokenAt"), kind: "tight", show: (drill) => <TimeOrDash at={drill.broken_at} /> },
    { title: t("columns.restoredAt"), kind: "tight", show: (drill) => <TimeOrDash at={drill.restored_at} /> },
  ];
}

/** Whether the drill passed, and why it did not. */
function Result({ drill }: { drill: DrillView }) {
  const { t } = useTranslation("drills");
  return (
    <>
      <span className={`state tone-${drill.passed ? "good" : "bad"}`}>
        {t(drill.passed ? "passed" : "failed")}
      </span>
      {drill.faults.map((fault) => (
        <div key={fault}>{fault}</div>
      ))}
    </>
  );
}

/** A measured time and its target. It is marked where it misses the target. */
function Seconds({ value, target, unknown }: SecondsProps) {
  const { t } = useTranslation("drills");
  const isKnown = typeof value === "number";
  return (
    <>
      <div className={isKnown && value <= target ? undefined : "toned tone-bad"}>
        {isKnown ? secondsText(value) : unknown}
      </div>
      <div className="soft">{t("target", { time: secondsText(target) })}</div>
    </>
  );
}

interface SecondsProps {
  value: number | null | undefined;
  target: number;
  unknown: string;
}

function Reason({ drill }: { drill: DrillView }) {
  return (
    <>
      <div>{drill.reason}</div>
      <div className="soft">{drill.how}</div>
      <code>{drill.actor}</code>
    </>
  );
}

function TimeOrDash({ at }: { at: string | null | undefined }) {
  return at ? <Timestamp at={at} /> : <>–</>;
}
