import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import {
  deleteIntakesName,
  getIntakes,
  postIntakesNamePause,
  postIntakesNameResume,
} from "../../api/generated/client";
import type { IntakePositionView, IntakeView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { EmptyState } from "../../parts/EmptyState";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { PauseButton } from "../../parts/PauseButton";
import { Timestamp } from "../../parts/Timestamp";
import { IntakeDialog } from "./ChannelDialogs";
import { SinkText } from "./ChannelFields";
import { ChannelName } from "./ChannelName";

const route = getRouteApi("/events");
const REFRESH_MS = 15_000;

/** The intakes: topics whose messages change schedules. */
export function Intakes() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const cursor = search.intakes;
  const query = useQuery({
    queryKey: ["intakes", cursor],
    queryFn: ({ signal }) => getIntakes({ cursor, limit: 20 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Card title={t("in.title")} id="intakes">
      <p className="soft">{t("in.about")}</p>
      <div className="filters">
        <ActionButton action="intakes.put" onClick={() => setAdding(true)}>
          {t("in.open")}
        </ActionButton>
      </div>
      {adding && <IntakeDialog onClose={() => setAdding(false)} />}
      <PagedTable<IntakeView>
        query={query}
        caption={t("in.title")}
        id={(one) => one.name}
        cursor={cursor}
        onCursor={(intakes) => void navigate({ search: { ...search, intakes } })}
        columns={[
          { title: t("columns.name"), show: (one) => <ChannelName one={one} /> },
          { title: t("columns.topic"), show: (one) => <SinkText sink={one.source} /> },
          { title: t("columns.types"), show: (one) => one.types.join(", ") || t("all") },
          { title: t("columns.taken"), kind: "number", show: (one) => <ProcessedCount at={one.position} /> },
          {
            title: t("columns.waiting"),
            kind: "number",
            show: (one) => one.position?.waiting?.toLocaleString() ?? "–",
          },
          {
            title: t("columns.error"),
            show: (one) =>
              one.position?.error && <span className="toned tone-bad">{one.position.error}</span>,
          },
          { title: t("columns.actions"), kind: "tight", show: (one) => <Actions one={one} /> },
        ]}
        empty={
          <EmptyState
            title={t("in.none")}
            help={t("in.emptyHelp")}
            line="horae intake put changes --broker main --topic acme.schedule-changes --type ARTICLE_PUBLISH"
          />
        }
      />
    </Card>
  );
}

/** The number of processed messages, and the time of the last one. */
function ProcessedCount({ at }: { at?: IntakePositionView | null }) {
  if (!at) return <>–</>;
  return (
    <>
      {at.taken.toLocaleString()}{" "}
      <span className="soft">{at.taken_at && <Timestamp at={at.taken_at} relative />}</span>
    </>
  );
}

function Actions({ one }: { one: IntakeView }) {
  const { t } = useTranslation("events");
  const [open, setOpen] = useState<"edit" | "remove" | null>(null);
  return (
    <Space size={4}>
      <PauseButton
        resource="intakes"
        size="small"
        paused={one.paused_at !== null}
        texts={(verb) => ({
          title: t(`in.${verb}.title`, { name: one.name }),
          effect: [t(`in.${verb}.first`), t(`in.${verb}.second`)],
        })}
        onConfirm={(verb) =>
          verb === "pause" ? postIntakesNamePause(one.name) : postIntakesNameResume(one.name)
        }
      />
      <ActionButton action="intakes.put" size="small" onClick={() => setOpen("edit")}>
        {t("edit")}
      </ActionButton>
      <ActionButton action="intakes.remove" size="small" danger onClick={() => setOpen("remove")}>
        {t("remove")}
      </ActionButton>
      {open === "edit" && <IntakeDialog base={one} onClose={() => setOpen(null)} />}
      {open === "remove" && (
        <ConfirmDialog
          title={t("in.remove", { name: one.name })}
          verb={t("remove")}
          danger
          effect={[t("in.never"), t("in.stays")]}
          onConfirm={async () => {
            await deleteIntakesName(one.name);
            await queries.invalidateQueries({ queryKey: ["intakes"] });
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </Space>
  );
}
