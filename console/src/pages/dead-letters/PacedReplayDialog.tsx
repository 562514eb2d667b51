import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { postPacedReplays } from "../../api/generated/client";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { NumberField, OptionalNumberField } from "../../parts/Fields";
import { secondsText } from "../../parts/times";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { compact, isEmpty, type Selection } from "./selection";
import { useOpenCount } from "./useOpenCount";

const MAX_REPLAYED = 100_000;
const MAX_PACE = 200;
const DEFAULT = { limit: 1_000, pace: 20, canary: 5 };

/** Replays many dead letters at a pace, a canary first. */
export function PacedReplayDialog({ selection, onClose }: { selection: Selection; onClose: () => void }) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const key = useIdempotencyKey();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [limit, setLimit] = useState(Math.min(selection.open || DEFAULT.limit, MAX_REPLAYED));
  const [pace, setPace] = useState(DEFAULT.pace);
  const [canary, setCanary] = useState(Math.min(DEFAULT.canary, limit));
  const [max_failures, setMaxFailures] = useState<number | null>(null);
  const count = useOpenCount(selection);
  const without = isEmpty(selection);
  return (
    <ConfirmDialog
      title={t("deadLetters:many.title")}
      verb={t("deadLetters:many.verb")}
      impossible={without}
      effect={
        without
          ? [t("needsFilter")]
          : [
              t("deadLetters:many.filter", { filter: selection.name }),
              count,
              canary > 0 ? t("replay.canaryFirst", { count: Math.min(canary, limit) }) : t("replay.noCanary"),
              t("replay.paced", { limit, pace, length: secondsText(Math.ceil(limit / pace)) }),
              t("replay.behind"),
              t("deadLetters:replay.same"),
            ]
      }
      onConfirm={async () => {
        const wanted = { ...compact(selection.filter), limit, pace, canary, max_failures };
        const replay = await postPacedReplays(wanted, withIdempotencyKey(key));
        await queries.invalidateQueries({ queryKey: ["paced-replays"] });
        await navigate({ to: "/dead-letters/replays/$replay", params: { replay: replay.id } });
      }}
      onClose={onClose}
    >
      {!without && (
        <>
          <NumberField
            label={t("deadLetters:many.limit")}
            value={limit}
            min={1}
            max={MAX_REPLAYED}
            onChange={setLimit}
          />
          <NumberField label={t("replay.pace")} value={pace} min={1} max={MAX_PACE} onChange={setPace} />
          <NumberField
            label={t("replay.canary")}
            help={t("replay.canaryHelp")}
            value={canary}
            min={0}
            max={MAX_REPLAYED}
            onChange={setCanary}
          />
          <OptionalNumberField
            label={t("replay.maxFailures")}
            help={t("replay.maxFailuresHelp")}
            value={max_failures}
            min={0}
            max={MAX_REPLAYED}
            onChange={setMaxFailures}
          />
        </>
      )}
    </ConfirmDialog>
  );
}
