import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { deleteTasksTypeKey } from "../../api/generated/client";
import type { TaskView } from "../../api/generated/models";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";

/** Removes the task of a key. */
export function RemoveTaskDialog({ type, id, one, onClose }: RemoveTaskDialogProps) {
  const { t } = useTranslation("tasks");
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  const running = one.live?.state === "RUNNING";
  return (
    <ConfirmDialog
      title={t("remove.title", { key: id })}
      verb={t("remove.verb")}
      danger
      effect={[t("remove.ends"), running ? t("effect.flight") : t("remove.never"), t("remove.remembered")]}
      onConfirm={async () => {
        await deleteTasksTypeKey(type, id, undefined, withIdempotencyKey(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    />
  );
}

interface RemoveTaskDialogProps {
  type: string;
  id: string;
  one: TaskView;
  onClose: () => void;
}
