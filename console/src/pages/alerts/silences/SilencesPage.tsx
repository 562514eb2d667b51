import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteSilencesName, getSilences } from "../../../api/generated/client";
import type { SilenceView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";
import type { Column } from "../../../parts/DataTable";
import { EmptyState } from "../../../parts/EmptyState";
import { Page } from "../../../parts/Page";
import { PagedTable } from "../../../parts/PagedTable";
import { Principal } from "../../../parts/Principal";
import { Timestamp } from "../../../parts/Timestamp";
import type { Tone } from "../../../parts/tones";
import { RemoveButton } from "../RemoveButton";
import { SelectorText } from "../SelectorFields";
import { Views } from "../Views";
import { SilenceDialog } from "./SilenceDialog";
import { type Phase, phaseOf } from "./silence-times";

const route = getRouteApi("/alerts/silences");
const EXAMPLE = "horae silence put maintenance --minutes 120 --label team=finance";
const REFRESH_MS = 15_000;
const TONES: Record<Phase, Tone> = { planned: "busy", active: "warn", over: "idle" };

/** The silences: times in which alerts are recorded and not sent. */
export function SilencesPage() {
  const { t } = useTranslation("alertSettings");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["silences", "list", cursor],
    queryFn: ({ signal }) => getSilences({ cursor }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return (
    <Page
      title={t("silences.title")}
      actions={
        <ActionButton action="silences.put" type="primary" onClick={() => setAdding(true)}>
          {t("silences.open")}
        </ActionButton>
      }
    >
      <Views here="silences" />
      <p className="soft">{t("silences.about")}</p>
      {adding && <SilenceDialog onClose={() => setAdding(false)} />}
      <PagedTable<SilenceView>
        query={query}
        caption={t("silences.title")}
        columns={useColumns()}
        id={(silence) => silence.name}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("silences.none")} help={t("silences.emptyHelp")} line={EXAMPLE} />}
      />
    </Page>
  );
}

function useColumns(): Column<SilenceView>[] {
  const { t } = useTranslation("alertSettings");
  return [
    { title: t("name"), show: (silence) => silence.name },
    { title: t("silences.state"), kind: "tight", show: (silence) => <PhaseMark silence={silence} /> },
    { title: t("silences.what"), show: (silence) => <SilencedText silence={silence} /> },
    { title: t("silences.from"), kind: "tight", show: (silence) => <Timestamp at={silence.starts_at} /> },
    { title: t("silences.until"), kind: "tight", show: (silence) => <Timestamp at={silence.ends_at} /> },
    {
      title: t("silences.comment"),
      show: (silence) => (
        <>
          {silence.comment}{" "}
          <span className="soft">
            <Principal id={silence.changed_by} />
          </span>
        </>
      ),
    },
    { title: t("actions"), kind: "tight", show: (silence) => <Actions silence={silence} /> },
  ];
}

function PhaseMark({ silence }: { silence: SilenceView }) {
  const { t } = useTranslation("alertSettings");
  const phase = phaseOf(silence, Date.now());
  return <span className={`state tone-${TONES[phase]}`}>{t(`silences.states.${phase}`)}</span>;
}

function SilencedText({ silence }: { silence: SilenceView }) {
  const { t } = useTranslation(["alertSettings", "alerts"]);
  const kinds = silence.kinds.map((kind) => t(`alerts:kinds.${kind}`)).join(t("comma"));
  return (
    <>
      {kinds && `${kinds} · `}
      <SelectorText selector={silence} />
    </>
  );
}

function Actions({ silence }: { silence: SilenceView }) {
  const { t } = useTranslation("alertSettings");
  const [editing, setEditing] = useState(false);
  const active = phaseOf(silence, Date.now()) === "active";
  return (
    <Space size={4}>
      <ActionButton action="silences.put" size="small" onClick={() => setEditing(true)}>
        {t("edit")}
      </ActionButton>
      <RemoveButton
        action="silences.remove"
        title={t(active ? "silences.removeTitle" : "silences.dropTitle", { name: silence.name })}
        verb={active ? t("silences.removeVerb") : undefined}
        effect={[t(active ? "silences.endsNow" : "silences.dropped")]}
        queryKey="silences"
        onRemove={() => deleteSilencesName(silence.name)}
      />
      {editing && <SilenceDialog base={silence} onClose={() => setEditing(false)} />}
    </Space>
  );
}
