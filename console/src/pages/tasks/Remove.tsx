import { useQueryClient } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import { deleteTasksTypeKey } from "../../api/generated/client";
import type { TaskView } from "../../api/generated/models";
import { Confirm } from "../../parts/Confirm";
import { useOneKey } from "../../parts/useOneKey";

/** The task of a key is no longer wanted. */
export function Remove({ type, id, one, onClose }: RemoveProps) {
  const { t } = useTranslation("tasks");
  const key = useOneKey();
  const queries = useQueryClient();
  const running = one.live?.state === "RUNNING";
  return (
    <Confirm
      title={t("remove.title", { key: id })}
      verb={t("remove.verb")}
      danger
      effect={[t("remove.ends"), running ? t("effect.flight") : t("remove.never"), t("remove.remembered")]}
      act={async () => {
        await deleteTasksTypeKey(type, id, undefined, once(key));
        await queries.invalidateQueries();
      }}
      onClose={onClose}
    />
  );
}

interface RemoveProps {
  type: string;
  id: string;
  one: TaskView;
  onClose: () => void;
}
