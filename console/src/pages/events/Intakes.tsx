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
import type { IntakeView, PositionView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { Pausing } from "../../parts/Pausing";
import { Sink } from "./Channel";
import { ChannelName } from "./ChannelName";
import { PutIntake } from "./Put";

const route = getRouteApi("/events");
const REFRESH = 15_000;

/** The topics by which schedule changes come in. */
export function Intakes() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [making, setMaking] = useState(false);
  const cursor = search.intakes;
  const asked = useQuery({
    queryKey: ["intakes", cursor],
    queryFn: ({ signal }) => getIntakes({ cursor, limit: 20 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH,
  });
  return (
    <Card title={t("in.title")} id="intakes">
      <p className="soft">{t("in.about")}</p>
      <div className="filters">
        <Act action="intakes.put" onClick={() => setMaking(true)}>
          {t("in.open")}
        </Act>
      </div>
      {making && <PutIntake onClose={() => setMaking(false)} />}
      <Found<IntakeView>
        asked={asked}
        caption={t("in.title")}
        id={(one) => one.name}
        cursor={cursor}
        go={(intakes) => void navigate({ search: { ...search, intakes } })}
        columns={[
          { title: t("columns.name"), show: (one) => <ChannelName one={one} /> },
          { title: t("columns.topic"), show: (one) => <Sink sink={one.source} /> },
          { title: t("columns.types"), show: (one) => one.types.join(", ") || t("all") },
          { title: t("columns.taken"), kind: "number", show: (one) => <Taken at={one.position} /> },
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
          { title: t("columns.acts"), kind: "tight", show: (one) => <Acts one={one} /> },
        ]}
        empty={
          <Empty
            title={t("in.none")}
            help={t("in.teach")}
            line="horae intake put changes --broker main --topic acme.schedule-changes --type ARTICLE_PUBLISH"
          />
        }
      />
    </Card>
  );
}

/** How many messages it took, and when the last of them. */
function Taken({ at }: { at?: PositionView | null }) {
  if (!at) return <>–</>;
  return (
    <>
      {at.taken.toLocaleString()}{" "}
      <span className="soft">{at.taken_at && <Moment at={at.taken_at} relative />}</span>
    </>
  );
}

function Acts({ one }: { one: IntakeView }) {
  const { t } = useTranslation("events");
  const [open, setOpen] = useState<"edit" | "remove" | null>(null);
  return (
    <Space size={4}>
      <Pausing
        of="intakes"
        size="small"
        paused={one.paused_at !== null}
        says={(verb) => ({
          title: t(`in.${verb}.title`, { name: one.name }),
          effect: [t(`in.${verb}.first`), t(`in.${verb}.second`)],
        })}
        act={(verb) => (verb === "pause" ? postIntakesNamePause(one.name) : postIntakesNameResume(one.name))}
      />
      <Act action="intakes.put" size="small" onClick={() => setOpen("edit")}>
        {t("edit")}
      </Act>
      <Act action="intakes.remove" size="small" danger onClick={() => setOpen("remove")}>
        {t("remove")}
      </Act>
      {open === "edit" && <PutIntake base={one} onClose={() => setOpen(null)} />}
      {open === "remove" && (
        <Confirm
          title={t("in.remove", { name: one.name })}
          verb={t("remove")}
          danger
          effect={[t("in.never"), t("in.stays")]}
          act={async () => {
            await deleteIntakesName(one.name);
            await queries.invalidateQueries({ queryKey: ["intakes"] });
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </Space>
  );
}
