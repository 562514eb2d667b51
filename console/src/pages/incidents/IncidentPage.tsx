import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { isGone } from "../../api/errors";
import { getIncident } from "../../api/generated/client";
import type { IncidentDetailView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Fact } from "../../parts/Fact";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { Timestamp } from "../../parts/Timestamp";
import { Findings } from "./Findings";
import { GradeMark, ProgressMark } from "./Marks";
import { Summary } from "./Summary";
import { Timeline } from "./Timeline";

const route = getRouteApi("/incidents/$incident");
const REFRESH_MS = 5_000;

/** One incident: what it is, what recovery has done, and its timeline. It is asked for again until it has ended. */
export function IncidentPage() {
  const { t } = useTranslation("incidents");
  const { incident: id } = route.useParams();
  const query = useQuery({
    queryKey: ["incidents", id],
    queryFn: ({ signal }) => getIncident(id, { signal }),
    refetchInterval: ({ state }) => (state.data?.ended_at ? false : REFRESH_MS),
  });
  const error = query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />;
  const incident = query.data;
  const back = <Link to="/incidents">{t("all")}</Link>;
  if (!incident || isGone(query.error))
    return (
      <Page title={t("one")} actions={back}>
        {error ?? <Loading />}
      </Page>
    );
  return (
    <Page title={incident.reason} mark={<Marks incident={incident} />} actions={back}>
      {error}
      <Card title={t("summary.title")}>
        <Summary incident={incident} />
      </Card>
      <Card title={t("timeline.title")}>
        <Timeline incident={incident} />
      </Card>
      <Findings incident={incident} />
      <Card title={t("facts")}>
        <Facts incident={incident} />
      </Card>
    </Page>
  );
}

function Marks({ incident }: { incident: IncidentDetailView }) {
  return (
    <>
      <GradeMark grade={incident.grade} />
      <ProgressMark incident={incident} />
    </>
  );
}

function Facts({ incident }: { incident: IncidentDetailView }) {
  const { t } = useTranslation("incidents");
  return (
    <dl className="facts">
      <Fact name={t("startedBy")}>
        <Principal id={incident.started_by} />
      </Fact>
      <Fact name={t("faultAt")}>
        <Timestamp at={incident.fault_at} />
      </Fact>
      <Fact name={t("startedAt")}>
        <Timestamp at={incident.started_at} />
      </Fact>
      {incident.ended_at && (
        <Fact name={t("endedAt")}>
          <Timestamp at={incident.ended_at} />
        </Fact>
      )}
      <Fact name={t("id")}>
        <code>{incident.id}</code>
      </Fact>
    </dl>
  );
}
