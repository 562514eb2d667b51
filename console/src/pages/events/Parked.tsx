import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { App, Button, Modal, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { deleteParkedMessage, getParked, postParkedMessageReplay } from "../../api/generated/client";
import type { ParkedView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Found } from "../../parts/Found";
import { Json } from "../../parts/Json";
import { Moment } from "../../parts/Moment";
import { Card } from "../../parts/Page";
import { Fact } from "../instances/Facts";

const route = getRouteApi("/events");
const REFRESH = 15_000;

/** Messages that nothing could be made of, oldest first. */
export function Parked() {
  const { t } = useTranslation("events");
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const cursor = search.parked;
  const asked = useQuery({
    queryKey: ["parked", cursor],
    queryFn: ({ signal }) => getParked({ cursor, limit: 20 }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: cursor ? false : REFRESH,
  });
  return (
    <Card title={t("parked.title")} id="parked">
      <p className="soft">{t("parked.about")}</p>
      <Found<ParkedView>
        asked={asked}
        caption={t("parked.title")}
        id={(one) => one.id}
        cursor={cursor}
        go={(parked) => void navigate({ search: { ...search, parked } })}
        columns={[
          { title: t("columns.at"), kind: "tight", show: (one) => <Moment at={one.at} /> },
          { title: t("columns.intake"), show: (one) => one.intake },
          {
            title: t("columns.reason"),
            show: (one) => (
              <>
                <code>{one.code}</code> {one.reason}
              </>
            ),
          },
          { title: t("columns.acts"), kind: "tight", show: (one) => <Acts one={one} /> },
        ]}
        empty={<p className="soft">{t("parked.none")}</p>}
      />
    </Card>
  );
}

function Acts({ one }: { one: ParkedView }) {
  const { t } = useTranslation("events");
  const { message } = App.useApp();
  const [open, setOpen] = useState<"look" | "replay" | "drop" | null>(null);
  const close = () => setOpen(null);
  const after = (work: Promise<unknown>, said: string) =>
    work.then(() => queries.invalidateQueries({ queryKey: ["parked"] })).then(() => void message.info(said));
  return (
    <Space size={4}>
      <Button size="small" onClick={() => setOpen("look")}>
        {t("parked.look")}
      </Button>
      <Act action="parked.replay" size="small" onClick={() => setOpen("replay")}>
        {t("parked.replay")}
      </Act>
      <Act action="parked.drop" size="small" danger onClick={() => setOpen("drop")}>
        {t("parked.drop")}
      </Act>
      {open === "look" && <Look one={one} onClose={close} />}
      {open === "replay" && (
        <Confirm
          title={t("parked.replayTitle")}
          verb={t("parked.replay")}
          effect={[t("parked.does"), t("parked.stays")]}
          act={() => after(postParkedMessageReplay(one.id), t("parked.replayed"))}
          onClose={close}
        />
      )}
      {open === "drop" && (
        <Confirm
          title={t("parked.dropTitle")}
          verb={t("parked.drop")}
          danger
          effect={[t("parked.gone"), t("parked.audited")]}
          act={() => after(deleteParkedMessage(one.id), t("parked.dropped"))}
          onClose={close}
        />
      )}
    </Space>
  );
}

/** The message as it came, where it lay, and why it was refused. */
function Look({ one, onClose }: { one: ParkedView; onClose: () => void }) {
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
          <Moment at={one.at} />
        </Fact>
      </dl>
      <h3 className="soft">{t("parked.body")}</h3>
      <Json value={one.body} label={t("parked.body")} />
    </Modal>
  );
}
