import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { getSourcesTypeName } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Loading } from "../../parts/Loading";
import { Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { Actions } from "./Actions";
import { Agreement, SourceFacts } from "./Agreement";
import { isOver } from "./counts";
import { Repairs } from "./Repairs";
import { Rounds } from "./Rounds";
import "./sources.css";

const route = getRouteApi("/sources/$type");
const REFRESH_MS = 5_000;
const FAST_REFRESH_MS = 2_500;

/** One source: last comparison, differences and repairs, rounds and definition. */
export function SourcePage() {
  const { t } = useTranslation("sources");
  const { type } = route.useParams();
  const [dry, setDry] = useState<number | null>(null);
  const query = useQuery({
    queryKey: ["source", type],
    queryFn: ({ signal }) => getSourcesTypeName(type, { signal }),
    refetchInterval: (query) => (query.state.data?.running || dry !== null ? FAST_REFRESH_MS : REFRESH_MS),
  });
  const source = query.data;
  useDryRun(source, dry, () => setDry(null));
  return (
    <Page
      title={t("of", { type })}
      mark={source?.running && <StateTag state="RUNNING" />}
      actions={source && <Actions source={source} onDry={setDry} />}
    >
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {!source && !query.error && <Loading />}
      {source && <SourceDetail source={source} waiting={dry !== null} />}
    </Page>
  );
}

/** Opens the differences of a dry run that was started here, when it is over. */
function useDryRun(source: SourceView | undefined, round: number | null, done: () => void) {
  const navigate = route.useNavigate();
  const last = source?.last;
  const over = round !== null && !!last && isOver(round, last);
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs once, when the round is over
  useEffect(() => {
    if (!over) return;
    done();
    void navigate({ search: { round: round ?? undefined }, hash: "repairs" });
  }, [over]);
}

function SourceDetail({ source, waiting }: { source: SourceView; waiting: boolean }) {
  const { t } = useTranslation("sources");
  const { round } = route.useSearch();
  const last = source.last;
  // The lists below are read again when it changes.
  const stamp = `${last?.number} ${last?.status} ${last?.drift} ${last?.error}`;
  const repairs = <Repairs source={source} stamp={stamp} />;
  return (
    <>
      {waiting && (
        <p className="banner tone-busy" role="status">
          {t("dryWaits")}
        </p>
      )}
      {round && repairs}
      <Agreement source={source} />
      {!round && repairs}
      <Rounds source={source} stamp={stamp} />
      <SourceFacts source={source} />
    </>
  );
}
