import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ApiError } from "../../api/errors";
import { getJobTasksKeyExplain, getTasksTypeKey } from "../../api/generated/client";
import type { TaskView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Json } from "../../parts/Json";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { WhyButton } from "../../parts/WhyButton";
import { Ledger } from "./Ledger";
import { RemoveTaskDialog } from "./RemoveTaskDialog";
import { SetTimeDialog } from "./SetTimeDialog";
import { TaskState } from "./TaskState";

const route = getRouteApi("/tasks/$type/$key");
const REFRESH_MS = 3_000;

/** One task: its current state and its ledger. A key without a task can be scheduled here. */
export function TaskPage() {
  const { t } = useTranslation("tasks");
  const { type, key } = route.useParams();
  const query = useQuery({
    queryKey: ["task", type, key],
    queryFn: ({ signal }) => fetchTask(type, key, signal),
    refetchInterval: (query) => (query.state.data?.live ? REFRESH_MS : false),
  });
  const one = query.data;
  return (
    <Page
      title={`${type} / ${key}`}
      mark={one && <StateTag state={one.live?.state ?? one.outcome ?? "INIT"} />}
      actions={one !== undefined && <Actions type={type} id={key} one={one} />}
    >
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {one === undefined && !query.error && <Loading />}
      {one === null && <p className="soft">{t("unknown")}</p>}
      {one && (
        <>
          <Card title={t("now")}>
            <TaskState one={one} />
          </Card>
          <Card title={t("ledger.title")}>
            <Ledger one={one} />
          </Card>
          {one.live?.payload !== null && one.live?.payload !== undefined && (
            <Card title={t("payload")}>
              <Json value={one.live.payload} label={t("payload")} />
            </Card>
          )}
        </>
      )}
    </Page>
  );
}

/** Reads a task; null if no time has been set for its key yet. */
async function fetchTask(type: string, key: string, signal: AbortSignal): Promise<TaskView | null> {
  try {
    return await getTasksTypeKey(type, key, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404 && !error.message.includes("has no job"))
      return null;
    throw error;
  }
}

function Actions({ type, id, one }: { type: string; id: string; one: TaskView | null }) {
  const { t } = useTranslation("tasks");
  const [open, setOpen] = useState<"time" | "remove" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      {one && (
        <WhyButton
          id={`${type} / ${id}`}
          ask={(question, signal) => getJobTasksKeyExplain(type, id, question, { signal })}
        />
      )}
      <ActionButton action="tasks.put" type="primary" onClick={() => setOpen("time")}>
        {one?.live ? t("time.move") : t("time.begin")}
      </ActionButton>
      {one?.live && (
        <ActionButton action="tasks.cancel" danger onClick={() => setOpen("remove")}>
          {t("remove.verb")}
        </ActionButton>
      )}
      {open === "time" && <SetTimeDialog type={type} id={id} one={one} onClose={close} />}
      {open === "remove" && one && <RemoveTaskDialog type={type} id={id} one={one} onClose={close} />}
    </>
  );
}
