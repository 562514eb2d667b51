import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { getSourcesTypeName } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { Loading } from "../../parts/Loading";
import { Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import { Acts } from "./Acts";
import { isOver } from "./counts";
import { Repairs } from "./Repairs";
import { Rounds } from "./Rounds";
import { Agreement, Facts } from "./Standing";
import "./sources.css";

const route = getRouteApi("/sources/$type");
const REFRESH = 5_000;
const SOON = 2_500;

/** One source: how well the tasks agree with it, what was repaired, and what a round would do now. */
export function SourcePage() {
  const { t } = useTranslation("sources");
  const { type } = route.useParams();
  const [dry, setDry] = useState<number | null>(null);
  const asked = useQuery({
    queryKey: ["source", type],
    queryFn: ({ signal }) => getSourcesTypeName(type, { signal }),
    refetchInterval: (query) => (query.state.data?.running || dry !== null ? SOON : REFRESH),
  });
  const source = asked.data;
  useDryRun(source, dry, () => setDry(null));
  return (
    <Page
      title={t("of", { type })}
      mark={source?.running && <StateTag state="RUNNING" />}
      acts={source && <Acts source={source} onDry={setDry} />}
    >
      {asked.error && <Trouble error={asked.error} onAgain={() => void asked.refetch()} />}
      {!source && !asked.error && <Loading />}
      {source && <Known source={source} waiting={dry !== null} />}
    </Page>
  );
}

/** A dry run that was asked for here, by its number: when it is over, what it found is shown. */
function useDryRun(source: SourceView | undefined, round: number | null, done: () => void) {
  const navigate = route.useNavigate();
  const last = source?.last;
  const over = round !== null && !!last && isOver(round, last);
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once, when it is over
  useEffect(() => {
    if (!over) return;
    done();
    void navigate({ search: { round: round ?? undefined }, hash: "repairs" });
  }, [over]);
}

function Known({ source, waiting }: { source: SourceView; waiting: boolean }) {
  const { t } = useTranslation("sources");
  const { round } = route.useSearch();
  const last = source.last;
  // The lists below are asked again when it changes.
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
      <Facts source={source} />
    </>
  );
}
