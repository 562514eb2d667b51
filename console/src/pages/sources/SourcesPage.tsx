import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getSources } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Page } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { duration } from "../../parts/times";
import { type Draft, draftOf } from "./draft";
import { Put } from "./Put";
import { Drift, Next, RoundMark } from "./Round";

const route = getRouteApi("/sources");
const REFRESH = 5_000;
const TEACH = `echo '{"origin": {"kind": "http", "url": "https://articles.example.com/pending"}}' |
  horae sources put ARTICLE_PUBLISH`;

/** Where the business lists what should be pending, and how well the tasks agree with it. */
export function SourcesPage() {
  const { t } = useTranslation("sources");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [making, setMaking] = useState(false);
  const asked = useQuery({
    queryKey: ["sources", cursor],
    queryFn: ({ signal }) => getSources({ cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH,
  });
  return (
    <Page
      title={t("title")}
      acts={
        <Act action="sources.put" type="primary" onClick={() => setMaking(true)}>
          {t("put.open")}
        </Act>
      }
    >
      <p className="soft">{t("about")}</p>
      {making && <Put onClose={() => setMaking(false)} />}
      <Found<SourceView>
        asked={asked}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.id}
        cursor={cursor}
        go={(next) => void navigate({ search: { cursor: next } })}
        empty={<Empty title={t("empty.title")} help={t("empty.help")} line={TEACH} />}
      />
    </Page>
  );
}

function useColumns(): Column<SourceView>[] {
  const { t } = useTranslation("sources");
  return [
    {
      title: t("columns.type"),
      show: (one) => (
        <Link to="/sources/$type" params={{ type: one.type }}>
          {one.type}
        </Link>
      ),
    },
    { title: t("columns.kind"), show: (one) => <Kind draft={draftOf(one)} /> },
    { title: t("columns.drift"), show: (one) => <Drift round={one.last} /> },
    { title: t("columns.last"), show: (one) => (one.last ? <RoundMark round={one.last} /> : t("noRound")) },
    { title: t("columns.next"), kind: "tight", show: (one) => <Next source={one} /> },
    {
      title: t("columns.error"),
      show: (one) => one.last?.error && <span className="tone-bad toned">{one.last.error}</span>,
    },
  ];
}

function Kind({ draft }: { draft: Draft }) {
  const { t } = useTranslation("sources");
  const often = draft.kind === "push" ? "" : ` · ${t("every", { length: duration(draft.every * 1_000) })}`;
  return (
    <>
      {t(`kind.${draft.kind}`)}
      <span className="soft">{often}</span>
    </>
  );
}
