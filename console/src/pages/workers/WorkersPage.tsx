import { useTranslation } from "react-i18next";
import { Page } from "../../parts/Page";
import { QueueList } from "./QueueList";
import { WorkerList } from "./WorkerList";
import "./workers.css";

/** The queues with what waits in them, and the workers that poll them. */
export function WorkersPage() {
  const { t } = useTranslation("workers");
  return (
    <Page title={t("title")}>
      <p className="soft">{t("about")}</p>
      <QueueList />
      <WorkerList />
    </Page>
  );
}
