import { useQueryClient } from "@tanstack/react-query";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postDeadLettersInstanceDiscard, postDeadLettersInstanceReplay } from "../../api/generated/client";
import type { DeadLetterView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { EditedReplayDialog } from "./EditedReplayDialog";
import { isReplayable } from "./filters";

/** The actions of one dead letter: replay and discard. */
export function Actions({ one }: { one: DeadLetterView }) {
  const { t } = useTranslation(["deadLetters", "triage"]);
  const [open, setOpen] = useState<"replay" | "edit" | "discard" | null>(null);
  const queries = useQueryClient();
  if (!isReplayable(one.replay_status)) return null;
  const name = one.key ? `${one.job} / ${one.key}` : (one.job ?? one.job_id);
  const thenRefresh = (request: Promise<unknown>) => request.then(() => queries.invalidateQueries());
  return (
    <Space size={4}>
      <ActionButton action="dead_letters.replay" size="small" onClick={() => setOpen("replay")}>
        {t("replay.verb")}
      </ActionButton>
      <ActionButton action="dead_letters.replay" size="small" onClick={() => setOpen("edit")}>
        {t("triage:edited.open")}
      </ActionButton>
      <ActionButton action="dead_letters.discard" size="small" onClick={() => setOpen("discard")}>
        {t("discard.verb")}
      </ActionButton>
      {open === "replay" && (
        <ConfirmDialog
          title={t("replay.title", { name })}
          verb={t("replay.verb")}
          effect={[t("replay.now"), t("replay.same"), t("replay.budget")]}
          onConfirm={() => thenRefresh(postDeadLettersInstanceReplay(one.instance_id))}
          onClose={() => setOpen(null)}
        />
      )}
      {open === "edit" && <EditedReplayDialog one={one} onClose={() => setOpen(null)} />}
      {open === "discard" && (
        <ConfirmDialog
          title={t("discard.title", { name })}
          verb={t("discard.verb")}
          danger
          effect={[t("discard.never"), t("discard.stays")]}
          onConfirm={() => thenRefresh(postDeadLettersInstanceDiscard(one.instance_id))}
          onClose={() => setOpen(null)}
        />
      )}
    </Space>
  );
}
