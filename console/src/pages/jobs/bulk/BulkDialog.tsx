import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { BulkJobsRequest } from "../../../api/generated/models";
import { ConfirmDialog } from "../../../parts/ConfirmDialog";
import { ErrorMessage } from "../../../parts/ErrorMessage";
import { useIdempotencyKey } from "../../../parts/useIdempotencyKey";
import { plan, run } from "./run";
import { type BulkOutcome, type BulkVerb, OPPOSITE } from "./selected-jobs";

const MAX_NAMES = 10;

/** Says how many jobs an action would change and which, then does it, with its progress. Closing it stops the rest. */
export function BulkDialog({ verb, wanted, onDone, onClose }: BulkDialogProps) {
  const { t } = useTranslation("lists");
  const [done, setDone] = useState<number | null>(null);
  const isStopped = useRef(false);
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const planned = useQuery({
    queryKey: ["bulk-plan", key],
    queryFn: ({ signal }) => plan(verb, wanted, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const changed = planned.data?.changed ?? [];
  return (
    <ConfirmDialog
      title={t("bulk.title", { verb: t(`bulk.${verb}`) })}
      verb={t(`bulk.${verb}`)}
      effect={useEffectLines(verb, planned.data)}
      impossible={changed.length === 0}
      onConfirm={async () => {
        setDone(0);
        onDone(await run(verb, changed, key, () => isStopped.current, setDone));
        await queries.invalidateQueries({ queryKey: ["jobs"] });
      }}
      onClose={() => {
        isStopped.current = true;
        onClose();
      }}
    >
      {planned.error && <ErrorMessage error={planned.error} onRetry={() => void planned.refetch()} />}
      {done !== null && (
        <p role="status" className="bulk-progress">
          <progress value={done} max={changed.length} aria-label={t(`bulk.${verb}`)} />
          {t("bulk.progress", {
            done: done.toLocaleString("en"),
            total: changed.length.toLocaleString("en"),
          })}
        </p>
      )}
    </ConfirmDialog>
  );
}

interface BulkDialogProps {
  verb: BulkVerb;
  wanted: Partial<BulkJobsRequest> | string[];
  onDone: (outcome: BulkOutcome) => void;
  onClose: () => void;
}

/** What the action does, in sentences: how many jobs, which, what becomes of them, and who stays as it is. */
function useEffectLines(verb: BulkVerb, planned: BulkOutcome | undefined): string[] {
  const { t } = useTranslation("lists");
  if (!planned) return [t("bulk.counting")];
  const { changed, refused } = planned;
  const number = (count: number) => count.toLocaleString("en");
  const stays = refused[0] && t("bulk.willStay", { count: refused.length, reason: refused[0].message ?? "" });
  if (changed.length === 0) return [t("bulk.nothing"), ...(stays ? [stays] : [])];
  const names = changed.slice(0, MAX_NAMES).join(", ");
  const more = changed.length - MAX_NAMES;
  return [
    t("bulk.willChange", {
      count: number(changed.length) as never,
      total: number(changed.length + refused.length),
    }),
    more > 0 ? t("bulk.whichMore", { names, more: number(more) }) : t("bulk.which", { names }),
    ...(stays ? [stays] : []),
    t(`bulk.${verb}Effect`),
    t("bulk.audited"),
    ...(OPPOSITE[verb] ? [t("bulk.undoable")] : []),
  ];
}
