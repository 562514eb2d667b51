import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { isGone } from "../../api/errors";
import { getAlert } from "../../api/generated/client";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Actions } from "./Actions";
import { Facts } from "./Facts";
import { AlertStateMarks, useAlertName } from "./Marks";
import { Messages } from "./Messages";
import { Views } from "./Views";

const route = getRouteApi("/alerts/$alert");
const REFRESH_MS = 5_000;

/** One alert: its details, and its messages with their delivery. */
export function AlertPage() {
  const { t } = useTranslation("alerts");
  const nameOf = useAlertName();
  const { alert: id } = route.useParams();
  const query = useQuery({
    queryKey: ["alerts", "one", id],
    queryFn: ({ signal }) => getAlert(id, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const error = query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />;
  const alert = query.data;
  if (!alert || isGone(query.error)) return <Page title={t("one")}>{error ?? <Loading />}</Page>;
  return (
    <Page title={nameOf(alert)} mark={<AlertStateMarks alert={alert} />} actions={<Actions alert={alert} />}>
      <Views here="alerts" />
      {error}
      <Card title={t("facts.title")}>
        <Facts alert={alert} />
      </Card>
      <Card title={t("messages.title")} id="messages">
        <p className="soft">{t("messages.about")}</p>
        <Messages messages={alert.messages ?? []} />
      </Card>
    </Page>
  );
}
