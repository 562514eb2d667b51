import { useTranslation } from "react-i18next";
import type { IncidentDetailView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { Timestamp } from "../../parts/Timestamp";
import { duration } from "../../parts/times";
import type words from "../../words/en/pages/incidents";
import { STATUS_TONES, type StepRow, stepRowsOf } from "./step-rows";

/** The steps of recovery: how far each is, when it ended, and its facts. */
export function Timeline({ incident }: { incident: IncidentDetailView }) {
  const { t } = useTranslation("incidents");
  const columns: Column<StepRow>[] = [
    { title: t("timeline.step"), kind: "tight", show: (row) => t(`steps.${row.step}`) },
    {
      title: t("timeline.status"),
      kind: "tight",
      show: (row) => (
        <span className={`state tone-${STATUS_TONES[row.status]}`}>{t(`statuses.${row.status}`)}</span>
      ),
    },
    {
      title: t("timeline.endedAt"),
      kind: "tight",
      show: (row) => (row.endedAt ? <Timestamp at={row.endedAt} /> : "–"),
    },
    {
      title: t("timeline.afterFault"),
      kind: "number",
      show: (row) => (row.endedAt ? duration(Date.parse(row.endedAt) - Date.parse(incident.fault_at)) : "–"),
    },
    {
      title: t("timeline.facts"),
      show: (row) => (row.status === "current" ? <Wait incident={incident} /> : <StepFacts row={row} />),
    },
  ];
  return (
    <DataTable
      caption={t("timeline.title")}
      columns={columns}
      items={stepRowsOf(incident)}
      id={(row) => row.step}
    />
  );
}

/** What the current step waits for, and until when. */
function Wait({ incident }: { incident: IncidentDetailView }) {
  const { t } = useTranslation("incidents");
  return (
    <>
      {incident.error && <div>{t("timeline.waitsFor", { error: incident.error })}</div>}
      {incident.deadline && (
        <div className="soft">
          {t("timeline.deadline")} <Timestamp at={incident.deadline} />
        </div>
      )}
    </>
  );
}

function StepFacts({ row }: { row: StepRow }) {
  const { t } = useTranslation("incidents");
  return (
    <>
      {row.missing !== null && <div className="toned tone-warn">{row.missing}</div>}
      {row.facts.map(([name, value]) => (
        <div key={name}>
          {t(`factNames.${name as FactName}`, { defaultValue: name })}:{" "}
          {factText(value, t("summary.notKnown"))}
        </div>
      ))}
    </>
  );
}

type FactName = keyof (typeof words)["factNames"];

function factText(value: unknown, unknown: string): string {
  if (value === null) return unknown;
  if (typeof value === "number") return value.toLocaleString("en");
  return Array.isArray(value) ? value.join(", ") : String(value);
}
