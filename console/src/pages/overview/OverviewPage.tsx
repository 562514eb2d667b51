import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { useIsPermitted } from "../../app/permissions";
import { useMe } from "../../app/session";
import { Loading } from "../../parts/Loading";
import { Page } from "../../parts/Page";
import { Cluster } from "./Cluster";
import { CurrentHealth } from "./CurrentHealth";
import { Forecast } from "./Forecast";
import { Growth } from "./Growth";
import { RecentHealth } from "./RecentHealth";
import { ServiceLevel } from "./ServiceLevel";
import "./overview.css";

/** Loaded after the first paint: their dialogs and menus are not a part of it. */
const OpenAlertsCard = lazy(async () => ({
  default: (await import("./OpenAlertsCard")).OpenAlertsCard,
}));
const ProblemJobs = lazy(async () => ({ default: (await import("./ProblemJobs")).ProblemJobs }));
const Measures = lazy(async () => ({ default: (await import("./Measures")).Measures }));

/** What an on-call person needs first: current health, open alerts, the worst jobs, measures; then service level, recent health, load forecast, cluster and growth. */
export function OverviewPage() {
  const { t } = useTranslation("overview");
  const permitted = {
    problems: useIsPermitted("jobs.problems"),
    jobs: useIsPermitted("jobs.forecast"),
    nodes: useIsPermitted("nodes.list"),
    growth: useIsPermitted("growth.read"),
  };
  const { me } = useMe();
  return (
    <Page title={t("title")} actions={<PlatformLinks />}>
      <CurrentHealth />
      <Suspense fallback={<Loading />}>
        <OpenAlertsCard />
        {permitted.problems && <ProblemJobs tenant={permitted.nodes ? me?.tenant : undefined} />}
        <Measures />
      </Suspense>
      <ServiceLevel />
      <RecentHealth />
      {permitted.jobs && <Forecast tenant={permitted.nodes ? me?.tenant : undefined} />}
      {permitted.nodes && <Cluster />}
      {permitted.growth && <Growth />}
    </Page>
  );
}

/** Links to the pages of incidents and drills. Platform users see them. */
function PlatformLinks() {
  const { t } = useTranslation(["incidents", "drills"]);
  const permitted = { incidents: useIsPermitted("incidents.list"), drills: useIsPermitted("drills.list") };
  return (
    <>
      {permitted.incidents && <Link to="/incidents">{t("title")}</Link>}
      {permitted.drills && <Link to="/drills">{t("drills:title")}</Link>}
    </>
  );
}
