import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getInstance } from "../../api/generated/client";
import { Json } from "../../parts/Json";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import { Acts } from "./Acts";
import { Attempts } from "./Attempts";
import { Facts } from "./Facts";
import { isLive } from "./sought";

const route = getRouteApi("/instances/$instance");
const REFRESH = 3_000;

/** One fire of a job: what was tried, what came back, what is to come. */
export function InstancePage() {
  const { t } = useTranslation("instances");
  const { instance } = route.useParams();
  const asked = useQuery({
    queryKey: ["instance", instance],
    queryFn: ({ signal }) => getInstance(instance, { signal }),
    refetchInterval: (query) => (query.state.data && !isLive(query.state.data.state) ? false : REFRESH),
  });
  const one = asked.data;
  if (!one)
    return (
      <Page title={t("one")}>
        {asked.error ? <Trouble error={asked.error} onAgain={() => void asked.refetch()} /> : <Loading />}
      </Page>
    );
  const name = one.key ? `${one.job ?? one.job_id} / ${one.key}` : (one.job ?? one.job_id);
  return (
    <Page title={name} mark={<StateTag state={one.state} />} acts={<Acts one={one} />}>
      <Card title={t("timeline")}>
        <Attempts one={one} />
      </Card>
      <Card title={t("facts")}>
        <Facts one={one} />
      </Card>
      <Card title={t("payload")}>
        {one.payload === null || one.payload === undefined ? (
          <p className="soft">{t("noPayload")}</p>
        ) : (
          <Json value={one.payload} label={t("payload")} />
        )}
      </Card>
    </Page>
  );
}
