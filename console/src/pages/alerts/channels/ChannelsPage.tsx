import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteAlertChannelsName, getAlertChannels } from "../../../api/generated/client";
import type { AlertChannelView } from "../../../api/generated/models";
import { ActionButton } from "../../../parts/ActionButton";
import type { Column } from "../../../parts/DataTable";
import { EmptyState } from "../../../parts/EmptyState";
import { Page } from "../../../parts/Page";
import { PagedTable } from "../../../parts/PagedTable";
import { Principal } from "../../../parts/Principal";
import { Timestamp } from "../../../parts/Timestamp";
import { RemoveButton } from "../RemoveButton";
import { Views } from "../Views";
import { ChannelDialog } from "./ChannelDialog";
import { ChannelTestDialog } from "./ChannelTestDialog";
import { draftOf } from "./draft";

const route = getRouteApi("/alerts/channels");
const EXAMPLE = "horae alert-channel put default --kind feishu --url-secret feishu-hook --language zh";

/** The alert channels: where messages about alerts go. */
export function ChannelsPage() {
  const { t } = useTranslation("alertSettings");
  const { cursor } = route.useSearch();
  const navigate = route.useNavigate();
  const [adding, setAdding] = useState(false);
  const query = useQuery({
    queryKey: ["alert-channels", "list", cursor],
    queryFn: ({ signal }) => getAlertChannels({ cursor }, { signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={t("channels.title")}
      actions={
        <ActionButton action="alert_channels.put" type="primary" onClick={() => setAdding(true)}>
          {t("channels.open")}
        </ActionButton>
      }
    >
      <Views here="channels" />
      <p className="soft">{t("channels.about")}</p>
      {adding && <ChannelDialog onClose={() => setAdding(false)} />}
      <PagedTable<AlertChannelView>
        query={query}
        caption={t("channels.title")}
        columns={useColumns()}
        id={(one) => one.name}
        cursor={cursor}
        onCursor={(next) => void navigate({ search: { cursor: next } })}
        empty={<EmptyState title={t("channels.none")} help={t("channels.emptyHelp")} line={EXAMPLE} />}
      />
    </Page>
  );
}

function useColumns(): Column<AlertChannelView>[] {
  const { t } = useTranslation("alertSettings");
  return [
    { title: t("name"), show: (one) => one.name },
    { title: t("channels.kindLabel"), kind: "tight", show: (one) => t(`channels.kind.${one.channel.kind}`) },
    { title: t("channels.target"), show: (one) => <TargetText one={one} /> },
    {
      title: t("channels.languageColumn"),
      kind: "tight",
      show: (one) => t(`channels.languages.${one.channel.language ?? "en"}`),
    },
    {
      title: t("changed"),
      show: (one) => (
        <>
          <Principal id={one.changed_by} /> · <Timestamp at={one.changed_at} relative />
        </>
      ),
    },
    { title: t("actions"), kind: "tight", show: (one) => <Actions one={one} /> },
  ];
}

/** Where a channel sends to: its address, or the name of the secret with it. */
function TargetText({ one }: { one: AlertChannelView }) {
  const { t } = useTranslation("alertSettings");
  const { url_secret, routing_key, bearer, url, to, signing } = draftOf(one);
  const secret = url_secret || routing_key || bearer;
  const parts = [
    url || to.split("\n").join(t("comma")),
    secret && t("channels.usingSecret", { name: secret }),
    signing && t("channels.signed", { name: signing }),
  ].filter(Boolean);
  return <>{parts.join(" · ")}</>;
}

function Actions({ one }: { one: AlertChannelView }) {
  const { t } = useTranslation("alertSettings");
  const [open, setOpen] = useState<"edit" | "test" | null>(null);
  const close = () => setOpen(null);
  return (
    <Space size={4}>
      <ActionButton action="alert_channels.test" size="small" onClick={() => setOpen("test")}>
        {t("test.verb")}
      </ActionButton>
      <ActionButton action="alert_channels.put" size="small" onClick={() => setOpen("edit")}>
        {t("edit")}
      </ActionButton>
      <RemoveButton
        action="alert_channels.remove"
        title={t("channels.removeTitle", { name: one.name })}
        effect={[t("channels.waiting"), t("channels.rules")]}
        queryKey="alert-channels"
        onRemove={() => deleteAlertChannelsName(one.name)}
      />
      {open === "edit" && <ChannelDialog base={one} onClose={close} />}
      {open === "test" && <ChannelTestDialog name={one.name} onClose={close} />}
    </Space>
  );
}
