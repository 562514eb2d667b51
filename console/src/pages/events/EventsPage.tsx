import { useTranslation } from "react-i18next";
import { Page } from "../../parts/Page";
import { Intakes } from "./Intakes";
import { Parked } from "./Parked";
import { Subscriptions } from "./Subscriptions";

/** Who is told of what happens, by which topics changes come in, and what nothing could be made of. */
export function EventsPage() {
  const { t } = useTranslation("events");
  return (
    <Page title={t("title")}>
      <Subscriptions />
      <Intakes />
      <Parked />
    </Page>
  );
}
