import { App, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import {
  deleteSubscriptionsName,
  postSubscriptionsNamePause,
  postSubscriptionsNameReplay,
  postSubscriptionsNameResume,
} from "../../api/generated/client";
import type { SubscriptionView } from "../../api/generated/models";
import { queries } from "../../app/queries";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import { Pausing } from "../../parts/Pausing";
import { dateTime } from "../../parts/times";
import { When } from "../../parts/When";
import { PutSubscription } from "./Put";

const USUAL = 15 * 60_000;

/** Tell it again, pause it, change it, tell it no more. */
export function SubscriptionActs({ one }: { one: SubscriptionView }) {
  const { t } = useTranslation("events");
  const [open, setOpen] = useState<"replay" | "edit" | "remove" | null>(null);
  const close = () => setOpen(null);
  return (
    <Space size={4}>
      <Act action="subscriptions.replay" size="small" onClick={() => setOpen("replay")}>
        {t("replay.verb")}
      </Act>
      <Pausing
        of="subscriptions"
        size="small"
        paused={one.paused_at !== null}
        says={(verb) => ({
          title: t(`out.${verb}.title`, { name: one.name }),
          effect: [t(`out.${verb}.first`), t(`out.${verb}.second`)],
        })}
        act={(verb) =>
          verb === "pause" ? postSubscriptionsNamePause(one.name) : postSubscriptionsNameResume(one.name)
        }
      />
      <Act action="subscriptions.put" size="small" onClick={() => setOpen("edit")}>
        {t("edit")}
      </Act>
      <Act action="subscriptions.remove" size="small" danger onClick={() => setOpen("remove")}>
        {t("remove")}
      </Act>
      {open === "replay" && <Replay one={one} onClose={close} />}
      {open === "edit" && <PutSubscription base={one} onClose={close} />}
      {open === "remove" && (
        <Confirm
          title={t("out.remove", { name: one.name })}
          verb={t("remove")}
          danger
          effect={[t("out.never"), t("out.again")]}
          act={async () => {
            await deleteSubscriptionsName(one.name);
            await queries.invalidateQueries({ queryKey: ["subscriptions"] });
          }}
          onClose={close}
        />
      )}
    </Space>
  );
}

/** A span of time is told again; the last fifteen minutes where nobody says another. */
function Replay({ one, onClose }: { one: SubscriptionView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const { message } = App.useApp();
  const [since, setSince] = useState<string | undefined>(() => new Date(Date.now() - USUAL).toISOString());
  const [until, setUntil] = useState<string | undefined>(undefined);
  const from = since ? dateTime(since) : t("replay.usual");
  return (
    <Confirm
      title={t("replay.title", { name: one.name })}
      verb={t("replay.verb")}
      effect={[
        t("replay.span", { from, to: until ? dateTime(until) : t("replay.now") }),
        t("replay.first"),
        t("replay.same"),
      ]}
      act={async () => {
        await postSubscriptionsNameReplay(one.name, { since: since ?? null, until: until ?? null });
        await queries.invalidateQueries({ queryKey: ["subscriptions"] });
        message.info(t("replay.done", { name: one.name }));
      }}
      onClose={onClose}
    >
      <Field label={t("replay.since")} help={t("replay.sinceHelp")}>
        {(id) => <When id={id} label={t("replay.since")} value={since} onChange={setSince} />}
      </Field>
      <Field label={t("replay.until")} help={t("replay.untilHelp")}>
        {(id) => <When id={id} label={t("replay.until")} value={until} onChange={setUntil} />}
      </Field>
    </Confirm>
  );
}
