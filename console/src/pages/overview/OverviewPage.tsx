import { useTranslation } from "react-i18next";
import { useSees } from "../../app/can";
import { useMe } from "../../app/session";
import { Page } from "../../parts/Page";
import { Cluster } from "./Cluster";
import { Coming } from "./Coming";
import { Lately } from "./Lately";
import { Now } from "./Now";
import "./overview.css";

/** How it stands, how it went, what is coming, and who looks after it. */
export function OverviewPage() {
  const { t } = useTranslation("overview");
  const sees = { jobs: useSees("jobs.forecast"), nodes: useSees("nodes.list") };
  const { me } = useMe();
  return (
    <Page title={t("title")}>
      <Now />
      <Lately />
      {sees.jobs && <Coming only={sees.nodes ? me?.tenant : undefined} />}
      {sees.nodes && <Cluster />}
    </Page>
  );
}
