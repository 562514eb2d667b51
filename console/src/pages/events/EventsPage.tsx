import { useTranslation } from "react-i18next";
import { Page } from "../../parts/Page";
import { Intakes } from "./Intakes";
import { ParkedMessages } from "./ParkedMessages";
import { Subscriptions } from "./Subscriptions";

/** Subscriptions, intakes and parked messages. */
export function EventsPage() {
  const { t } = useTranslation("events");
  return (
    <Page title={t("title")}>
      <Subscriptions />
      <Intakes />
      <ParkedMessages />
    </Page>
  );
}
