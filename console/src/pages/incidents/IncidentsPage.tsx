import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getIncidents } from "../../api/generated/client";
import type { IncidentView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Page } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { TextWithCommands } from "../../parts/TextWithCommands";
import { Timestamp } from "../../parts/Timestamp";
import { GradeMark, ProgressMark } from "./Marks";

const REFRESH_MS = 10_000;

/** The last incidents, the newest first. Platform users see it. */
export function IncidentsPage() {
  const { t } = useTranslation("incidents");
  const query = useQuery({
    queryKey: ["incidents"],
    queryFn: ({ signal }) => getIncidents({ signal }),
    refetchInterval: REFRESH_MS,
  });
  const columns = useColumns();
  return (
    <Page title={t("title")}>
      <p className="soft">
        <TextWithCommands text={t("about")} />
      </p>
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {(query.data || !query.error) && (
        <DataTable
          caption={t("title")}
          columns={columns}
          items={query.data}
          id={(incident) => incident.id}
          empty={
            <EmptyState
              title={t("empty.title")}
              help={t("empty.help")}
              line="horae recover start --grade P1 --reason 'the primary of cell-0 is lost'"
            />
          }
        />
      )}
    </Page>
  );
}

function useColumns(): Column<IncidentView>[] {
  const { t } = useTranslation("incidents");
  return [
    { title: t("reason"), show: (incident) => <IncidentLink incident={incident} /> },
    { title: t("grade"), kind: "tight", show: (incident) => <GradeMark grade={incident.grade} /> },
    { title: t("progress"), kind: "tight", show: (incident) => <ProgressMark incident={incident} /> },
    { title: t("startedBy"), show: (incident) => <Principal id={incident.started_by} /> },
    { title: t("startedAt"), kind: "tight", show: (incident) => <Timestamp at={incident.started_at} /> },
    {
      title: t("endedAt"),
      kind: "tight",
      show: (incident) => (incident.ended_at ? <Timestamp at={incident.ended_at} /> : "–"),
    },
  ];
}

function IncidentLink({ incident }: { incident: IncidentView }) {
  return (
    <Link to="/incidents/$incident" params={{ incident: incident.id }}>
      {incident.reason}
    </Link>
  );
}
