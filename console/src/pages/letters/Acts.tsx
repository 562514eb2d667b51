import { useQueryClient } from "@tanstack/react-query";
import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postDeadLettersInstanceDiscard, postDeadLettersInstanceReplay } from "../../api/generated/client";
import type { LetterView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { replayable } from "./sought";

/** One letter: send it again, or give it up. */
export function Acts({ one }: { one: LetterView }) {
  const { t } = useTranslation("letters");
  const [asking, ask] = useState<"replay" | "discard" | null>(null);
  const queries = useQueryClient();
  if (!replayable(one.replay_status)) return null;
  const name = one.key ? `${one.job} / ${one.key}` : (one.job ?? one.job_id);
  const after = (work: Promise<unknown>) => work.then(() => queries.invalidateQueries());
  return (
    <Space size={4}>
      <Act action="dead_letters.replay" size="small" onClick={() => ask("replay")}>
        {t("replay.verb")}
      </Act>
      <Act action="dead_letters.discard" size="small" onClick={() => ask("discard")}>
        {t("discard.verb")}
      </Act>
      {asking === "replay" && (
        <Confirm
          title={t("replay.title", { name })}
          verb={t("replay.verb")}
          effect={[t("replay.now"), t("replay.same"), t("replay.budget")]}
          act={() => after(postDeadLettersInstanceReplay(one.instance_id))}
          onClose={() => ask(null)}
        />
      )}
      {asking === "discard" && (
        <Confirm
          title={t("discard.title", { name })}
          verb={t("discard.verb")}
          danger
          effect={[t("discard.never"), t("discard.stays")]}
          act={() => after(postDeadLettersInstanceDiscard(one.instance_id))}
          onClose={() => ask(null)}
        />
      )}
    </Space>
  );
}
