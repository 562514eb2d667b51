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
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { DateTimeInput } from "../../parts/DateTimeInput";
import { Field } from "../../parts/Field";
import { PauseButton } from "../../parts/PauseButton";
import { markedTime } from "../../parts/times";
import { SubscriptionDialog } from "./ChannelDialogs";

const DEFAULT_REPLAY_MS = 15 * 60_000;

/** The actions of a subscription: replay, pause, edit and remove. */
export function SubscriptionActions({ one }: { one: SubscriptionView }) {
  const { t } = useTranslation("events");
  const [open, setOpen] = useState<"replay" | "edit" | "remove" | null>(null);
  const close = () => setOpen(null);
  return (
    <Space size={4}>
      <ActionButton action="subscriptions.replay" size="small" onClick={() => setOpen("replay")}>
        {t("replay.verb")}
      </ActionButton>
      <PauseButton
        resource="subscriptions"
        size="small"
        paused={one.paused_at !== null}
        texts={(verb) => ({
          title: t(`out.${verb}.title`, { name: one.name }),
          effect: [t(`out.${verb}.first`), t(`out.${verb}.second`)],
        })}
        onConfirm={(verb) =>
          verb === "pause" ? postSubscriptionsNamePause(one.name) : postSubscriptionsNameResume(one.name)
        }
      />
      <ActionButton action="subscriptions.put" size="small" onClick={() => setOpen("edit")}>
        {t("edit")}
      </ActionButton>
      <ActionButton action="subscriptions.remove" size="small" danger onClick={() => setOpen("remove")}>
        {t("remove")}
      </ActionButton>
      {open === "replay" && <Replay one={one} onClose={close} />}
      {open === "edit" && <SubscriptionDialog base={one} onClose={close} />}
      {open === "remove" && (
        <ConfirmDialog
          title={t("out.remove", { name: one.name })}
          verb={t("remove")}
          danger
          effect={[t("out.never"), t("out.again")]}
          onConfirm={async () => {
            await deleteSubscriptionsName(one.name);
            await queries.invalidateQueries({ queryKey: ["subscriptions"] });
          }}
          onClose={close}
        />
      )}
    </Space>
  );
}

/** Delivers the events of a time range again; the default is the last fifteen minutes. */
function Replay({ one, onClose }: { one: SubscriptionView; onClose: () => void }) {
  const { t } = useTranslation("events");
  const { message } = App.useApp();
  const [since, setSince] = useState<string | undefined>(() =>
    new Date(Date.now() - DEFAULT_REPLAY_MS).toISOString(),
  );
  const [until, setUntil] = useState<string | undefined>(undefined);
  const from = since ? markedTime(since) : t("replay.defaultFrom");
  return (
    <ConfirmDialog
      title={t("replay.title", { name: one.name })}
      verb={t("replay.verb")}
      effect={[
        t("replay.span", { from, to: until ? markedTime(until) : t("replay.now") }),
        t("replay.first"),
        t("replay.same"),
      ]}
      onConfirm={async () => {
        await postSubscriptionsNameReplay(one.name, { since: since ?? null, until: until ?? null });
        await queries.invalidateQueries({ queryKey: ["subscriptions"] });
        message.info(t("replay.done", { name: one.name }));
      }}
      onClose={onClose}
    >
      <Field label={t("replay.since")} help={t("replay.sinceHelp")}>
        {(id) => <DateTimeInput id={id} label={t("replay.since")} value={since} onChange={setSince} />}
      </Field>
      <Field label={t("replay.until")} help={t("replay.untilHelp")}>
        {(id) => <DateTimeInput id={id} label={t("replay.until")} value={until} onChange={setUntil} />}
      </Field>
    </ConfirmDialog>
  );
}
