import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getFailureCausesCause } from "../../api/generated/client";
import type { FailureCauseDetail } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Fact } from "../../parts/Fact";
import { Figure } from "../../parts/Figure";
import { JobLink } from "../../parts/instance-links";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Timestamp } from "../../parts/Timestamp";
import { Samples } from "./Samples";
import { SelectionActions } from "./SelectionActions";
import { SinceDeath } from "./SinceDeath";
import { Trend } from "./Trend";
import { Views } from "./Views";

const route = getRouteApi("/dead-letters/causes/$cause");
const REFRESH_MS = 5_000;

/** One failure cause: how many died of it, what changed since, samples, and what can be done with all of them. */
export function CausePage() {
  const { t } = useTranslation("triage");
  const { cause } = route.useParams();
  const query = useQuery({
    queryKey: ["failure-causes", "one", cause],
    queryFn: ({ signal }) => getFailureCausesCause(cause, { signal }),
    refetchInterval: REFRESH_MS,
  });
  const one = query.data;
  if (!one)
    return (
      <Page title={t("causes.one")}>
        <Views view="causes" />
        {query.error ? (
          <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <Loading />
        )}
      </Page>
    );
  const name = `${one.job ?? one.job_id}: ${one.error_code}`;
  return (
    <Page
      title={name}
      mark={<Trend trend={one.trend} />}
      actions={
        <SelectionActions selection={{ filter: { cause }, name: `${name} ${one.message}`, open: one.open }} />
      }
    >
      <Views view="causes" />
      <Card title={t("causes.why")}>
        <CauseFacts one={one} />
      </Card>
      <Card title={t("since.title")}>
        <SinceDeath one={one} />
      </Card>
      <Card title={t("samples.title")}>
        <Samples samples={one.samples} />
        <p>
          <Link to="/dead-letters" search={{ cause }}>
            {t("samples.all")}
          </Link>
        </p>
      </Card>
    </Page>
  );
}

function CauseFacts({ one }: { one: FailureCauseDetail }) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  return (
    <>
      <p className="sentence">{one.message || t("causes.noMessage")}</p>
      <dl className="figures">
        <Figure name={t("causes.open")} tone={one.open > 0 ? "bad" : undefined}>
          {one.open.toLocaleString()}
        </Figure>
        <Figure name={t("causes.lastHour")}>{one.last_hour.toLocaleString()}</Figure>
        <Figure name={t("causes.lastDay")}>{one.last_day.toLocaleString()}</Figure>
        <Figure name={t("causes.dayBefore")}>{one.day_before.toLocaleString()}</Figure>
      </dl>
      <dl className="facts cause-facts">
        <Fact name={t("deadLetters:columns.job")}>
          <JobLink one={one} />
        </Fact>
        {one.target && <Fact name={t("causes.target")}>{one.target}</Fact>}
        <Fact name={t("causes.firstAt")}>
          <Timestamp at={one.first_at} />
        </Fact>
        <Fact name={t("causes.lastAt")}>
          <Timestamp at={one.last_at} />
        </Fact>
        <Fact name={t("causes.versions")}>
          {one.oldest_version === one.newest_version
            ? one.newest_version
            : `${one.oldest_version} – ${one.newest_version}`}
        </Fact>
      </dl>
    </>
  );
}
