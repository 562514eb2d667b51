import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getInstance, getInstanceExplain, getJob } from "../../api/generated/client";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { FromArchive } from "../../parts/FromArchive";
import { Json } from "../../parts/Json";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { JobZone } from "../../parts/Timestamp";
import { WhyButton } from "../../parts/WhyButton";
import { zoneOf } from "../jobs/zone-of";
import { Actions } from "./Actions";
import { Attempts } from "./Attempts";
import { Facts } from "./Facts";
import { isLive } from "./filters";
import { LogCard } from "./LogCard";
import { ResultCard } from "./ResultCard";

const route = getRouteApi("/instances/$instance");
const REFRESH_MS = 3_000;

/** One instance: timeline, details and payload. */
export function InstancePage() {
  const { t } = useTranslation("instances");
  const { instance } = route.useParams();
  const query = useQuery({
    queryKey: ["instance", instance],
    queryFn: ({ signal }) => getInstance(instance, { signal }),
    refetchInterval: (query) => (query.state.data && !isLive(query.state.data.state) ? false : REFRESH_MS),
  });
  const one = query.data;
  const jobId = one?.job_id;
  // A removed job has no zone any more: then the times stay in the reader's.
  const job = useQuery({
    queryKey: ["job", jobId],
    queryFn: ({ signal }) => getJob(jobId ?? "", { signal }),
    enabled: jobId !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  }).data;
  if (!one)
    return (
      <Page title={t("one")}>
        {query.error ? (
          <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading />
        )}
      </Page>
    );
  const name = one.key ? `${one.job ?? one.job_id} / ${one.key}` : (one.job ?? one.job_id);
  return (
    <Page
      title={name}
      mark={<StateTag state={one.state} />}
      actions={
        <>
          <WhyButton
            id={one.id}
            ask={(question, signal) => getInstanceExplain(one.id, question, { signal })}
          />
          <Actions one={one} />
        </>
      }
    >
      <JobZone value={job && zoneOf(job)}>
        <Card title={t("timeline")}>
          <Attempts one={one} />
        </Card>
        <LogCard key={one.id} instance={one.id} />
        <ResultCard one={one} />
        <Card title={t("facts")}>
          <Facts one={one} />
          <FromArchive read={one.archive} />
        </Card>
        <Card title={t("payload")}>
          {one.payload === null || one.payload === undefined ? (
            <p className="soft">{t("noPayload")}</p>
          ) : (
            <Json value={one.payload} label={t("payload")} />
          )}
        </Card>
      </JobZone>
    </Page>
  );
}
