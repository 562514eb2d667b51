import { useTranslation } from "react-i18next";
import { sentence } from "../../app/health/machine";
import { useHealth } from "../../app/health/useHealth";
import { Page } from "../../parts/Page";

/** How it stands, at a glance. */
export function OverviewPage() {
  const { t } = useTranslation(["overview", "health"]);
  const said = sentence(useHealth());
  return (
    <Page title={t("title")}>
      <p>{t(`health:${said.key}`, { ...said })}</p>
    </Page>
  );
}
