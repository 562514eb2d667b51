import { useState } from "react";
import { useTranslation } from "react-i18next";
import { putAlertChannelsName } from "../../../api/generated/client";
import type { AlertChannelView } from "../../../api/generated/models";
import { queries } from "../../../app/queries";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { TextField } from "../../../parts/Fields";
import { ChannelFields } from "./ChannelFields";
import { channelOf, type Draft, draftOf, emptyDraft } from "./draft";

/** Creates an alert channel, or changes an existing one. */
export function ChannelDialog({ base, onClose }: { base?: AlertChannelView; onClose: () => void }) {
  const { t, i18n } = useTranslation("alertSettings");
  const [draft, setDraft] = useState<Draft>(() => (base ? draftOf(base) : emptyDraft(i18n.language)));
  return (
    <ConfirmDialog
      title={base ? t("channels.change", { name: base.name }) : t("channels.open")}
      verb={t("channels.verb")}
      effect={[t("channels.now"), t("channels.default"), t("channels.noSecrets")]}
      onConfirm={async () => {
        await putAlertChannelsName(draft.name, channelOf(draft));
        await queries.invalidateQueries({ queryKey: ["alert-channels"] });
      }}
      onClose={onClose}
    >
      {!base && (
        <TextField label={t("name")} value={draft.name} onChange={(name) => setDraft({ ...draft, name })} />
      )}
      <ChannelFields draft={draft} onChange={setDraft} />
    </ConfirmDialog>
  );
}
