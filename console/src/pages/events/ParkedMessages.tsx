import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { App, Button, Modal, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteParkedMessage, getParked, postParkedMessageReplay } from "../../api/generated/client";
import type { ParkedMessageView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Fact } from "../../parts/Fact";
import { Json } from "../../parts/Json";
import { Card } from "../../parts/Page";
import { PagedTable } from "../../parts/PagedTable";
import { Timestamp } from "../../parts/Timestamp";

const route = getRouteApi("/events");
const REFRESH_MS = 15_000;

/** Messages that could not be processed, oldest first. */
export function ParkedMessages() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const cursor = search.parked;
  const query = useQuery({
    queryKey: ["parked", cursor],
    queryFn: ({ signal }) => getParked({ cursor, limit: 20 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH_MS,
  });
  return (
    <Card title={t("parked.title")} id="parked">
      <p className="soft">{t("parked.about")}</p>
      <PagedTable<ParkedMessageView>
        query={query}
        caption={t("parked.title")}
        id={(one) => one.id}
        cursor={cursor}
        onCursor={(parked) => void navigate({ search: { ...search, parked } })}
        columns={[
          { title: t("columns.at"), kind: "tight", show: (one) => <Timestamp at={one.at} /> },
          { title: t("columns.intake"), show: (one) => one.intake },
          {
            title: t("columns.reason"),
            show: (one) => (
              <>
                <code>{one.code}</code> {one.reason}
              </>
            ),
          },
          { title: t("columns.actions"), kind: "tight", show: (one) => <Actions one={one} /> },
        ]}
        empty={<p className="soft">{t("parked.none")}</p>}
      />
    </Card>
  );
}

function Actions({ one }: { one: ParkedMessageView }) {
  const { t } = useTranslation("events");
  const { message } = App.useApp();
  const [open, setOpen] = useState<"look" | "replay" | "drop" | null>(null);
  const close = () => setOpen(null);
  const thenInform = (request: Promise<unknown>, text: string) =>
    request
      .then(() => queries.invalidateQueries({ queryKey: ["parked"] }))
      .then(() => void message.info(text));
  return (
    <Space size={4}>
      <Button size="small" onClick={() => setOpen("look")}>
        {t("parked.look")}
      </Button>
      <ActionButton action="parked.replay" size="small" onClick={() => setOpen("replay")}>
        {t("parked.replay")}
      </ActionButton>
      <ActionButton action="parked.drop" size="small" danger onClick={() => setOpen("drop")}>
        {t("parked.drop")}
      </ActionButton>
      {open === "look" && <MessageDialog one={one} onClose={close} />}
      {open === "replay" && (
        <ConfirmDialog
          title={t("parked.replayTitle")}
          verb={t("parked.replay")}
          effect={[t("parked.does"), t("parked.stays")]}
          onConfirm={() => thenInform(postParkedMessageReplay(one.id), t("parked.replayed"))}
          onClose={close}
        />
      )}
      {open === "drop" && (
        <ConfirmDialog
          title={t("parked.dropTitle")}
          verb={t("parked.drop")}
          danger
          effect={[t("parked.gone"), t("parked.audited")]}
          onConfirm={() => thenInform(deleteParkedMessage(one.id), t("parked.dropped"))}
          onClose={close}
        />
      )}
    </Space>
  );
}

/** Shows a parked message: its body, its position in the topic, and the reason. */
function MessageDialog({ one, onClose }: { one: ParkedMessageView; onClose: () => void }) {
  const { t } = useTranslation(["events", "frame"]);
  return (
    <Modal
      open
      title={t("parked.message")}
      footer={<Button onClick={onClose}>{t("frame:close")}</Button>}
      onCancel={onClose}
      destroyOnHidden
    >
      <dl className="facts">
        <Fact name={t("columns.reason")}>
          <code>{one.code}</code> {one.reason}
        </Fact>
        <Fact name={t("columns.intake")}>{one.intake}</Fact>
        <Fact name={t("columns.place")}>
          <code>{one.place}</code>
        </Fact>
        <Fact name={t("columns.at")}>
          <Timestamp at={one.at} />
        </Fact>
      </dl>
      <h3 className="soft">{t("parked.body")}</h3>
      <Json value={one.body} label={t("parked.body")} />
    </Modal>
  );
}
