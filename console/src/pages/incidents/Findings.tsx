import { useTranslation } from "react-i18next";
import type { IncidentDetailView } from "../../api/generated/models";
import { DataTable } from "../../parts/DataTable";
import { Card } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { findingsOf, type NamedFinding } from "./step-rows";

/** The first findings of the audit of fires; nothing while there are none. */
export function Findings({ incident }: { incident: IncidentDetailView }) {
  const { t } = useTranslation("incidents");
  const findings = findingsOf(incident);
  if (findings.length === 0) return null;
  const title = t("findings.title", { count: findings.length });
  return (
    <Card title={title}>
      <DataTable<NamedFinding>
        caption={title}
        items={findings}
        id={(one) => `${one.job} ${one.fault} ${one.at}`}
        columns={[
          { title: t("findings.job"), show: (one) => one.job },
          { title: t("findings.fault"), kind: "tight", show: (one) => one.fault },
          { title: t("findings.at"), kind: "tight", show: (one) => <Timestamp at={one.at} /> },
        ]}
      />
    </Card>
  );
}
