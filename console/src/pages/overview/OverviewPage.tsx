import { useTranslation } from "react-i18next";
import { useIsPermitted } from "../../app/permissions";
import { useMe } from "../../app/session";
import { Page } from "../../parts/Page";
import { Cluster } from "./Cluster";
import { CurrentHealth } from "./CurrentHealth";
import { Forecast } from "./Forecast";
import { Growth } from "./Growth";
import { RecentHealth } from "./RecentHealth";
import { ServiceLevel } from "./ServiceLevel";
import "./overview.css";

/** Current health, service level, recent health, load forecast, cluster and growth. */
export function OverviewPage() {
  const { t } = useTranslation("overview");
  const permitted = {
    jobs: useIsPermitted("jobs.forecast"),
    nodes: useIsPermitted("nodes.list"),
    growth: useIsPermitted("growth.read"),
  };
  const { me } = useMe();
  return (
    <Page title={t("title")}>
      <CurrentHealth />
      <ServiceLevel />
      <RecentHealth />
      {permitted.jobs && <Forecast tenant={permitted.nodes ? me?.tenant : undefined} />}
      {permitted.nodes && <Cluster />}
      {permitted.growth && <Growth />}
    </Page>
  );
}
