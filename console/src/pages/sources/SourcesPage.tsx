import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getSources } from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import type { Column } from "../../parts/DataTable";
import { EmptyState } from "../../parts/EmptyState";
import { MAX_PAGE_SIZE } from "../../parts/list/export";
import { Page } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { duration } from "../../parts/times";
import { type Draft, draftOf } from "./draft";
import { Drift, NextRound, RoundMark } from "./RoundTexts";
import { SourceDialog } from "./SourceDialog";

const route = getRouteApi("/sources");
const REFRESH_MS = 5_000;
const EXAMPLE = `echo '{"origin": {"kind": "http", "url": "https://articles.example.com/pending"}}' |
  horae source put ARTICLE_PUBLISH`;

/** The sources, each with the drift of its last round. */
export function SourcesPage() {
  const { t } = useTranslation("sources");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["sources", cursor],
    queryFn: ({ signal }) => getSources({ cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page
      title={t("title")}
      actions={
        <ActionButton action="sources.put" type="primary" onClick={() => setAdding(true)}>
          {t("put.open")}
        </ActionButton>
      }
    >
      <p className="soft">{t("about")}</p>
      {adding && <SourceDialog onClose={() => setAdding(false)} />}
      <PagedTable<SourceView>
        list="sources"
        read={(from, signal) => getSources({ cursor: from, limit: MAX_PAGE_SIZE }, { signal })}
        query={query}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("empty.title")} help={t("empty.help")} line={EXAMPLE} />}
      />
    </Page>
  );
}

function useColumns(): Column<SourceView>[] {
  const { t } = useTranslation("sources");
  return [
    {
      id: "type",
      title: t("columns.type"),
      show: (one) => (
        <Link to="/sources/$type" params={{ type: one.type }}>
          {one.type}
        </Link>
      ),
    },
    { id: "kind", title: t("columns.kind"), show: (one) => <KindText draft={draftOf(one)} /> },
    { id: "drift", title: t("columns.drift"), show: (one) => <Drift round={one.last} /> },
    {
      id: "last",
      title: t("columns.last"),
      show: (one) => (one.last ? <RoundMark round={one.last} /> : t("noRound")),
    },
    { id: "next", title: t("columns.next"), kind: "tight", show: (one) => <NextRound source={one} /> },
    {
      id: "error",
      title: t("columns.error"),
      show: (one) => one.last?.error && <span className="tone-bad toned">{one.last.error}</span>,
    },
  ];
}

function KindText({ draft }: { draft: Draft }) {
  const { t } = useTranslation("sources");
  const often = draft.kind === "push" ? "" : ` · ${t("every", { length: duration(draft.every * 1_000) })}`;
  return (
    <>
      {t(`kind.${draft.kind}`)}
      <span className="soft">{often}</span>
    </>
  );
}
