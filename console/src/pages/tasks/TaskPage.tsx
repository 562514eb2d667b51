import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getTasksTypeKey } from "../../api/generated/client";
import type { TaskView } from "../../api/generated/models";
import { Refused } from "../../api/trouble";
import { Act } from "../../parts/Act";
import { Json } from "../../parts/Json";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { Trouble } from "../../parts/Trouble";
import { Ledger } from "./Ledger";
import { Now } from "./Now";
import { Remove } from "./Remove";
import { SetTime } from "./SetTime";

const route = getRouteApi("/tasks/$type/$key");
const REFRESH = 3_000;

/** One business key: what lives, and how it came to this. A key that nobody has asked for yet can be begun here. */
export function TaskPage() {
  const { t } = useTranslation("tasks");
  const { type, key } = route.useParams();
  const asked = useQuery({
    queryKey: ["task", type, key],
    queryFn: ({ signal }) => known(type, key, signal),
    refetchInterval: (query) => (query.state.data?.live ? REFRESH : false),
  });
  const one = asked.data;
  return (
    <Page
      title={`${type} / ${key}`}
      mark={one && <StateTag state={one.live?.state ?? one.outcome ?? "INIT"} />}
      acts={one !== undefined && <Acts type={type} id={key} one={one} />}
    >
      {asked.error && <Trouble error={asked.error} onAgain={() => void asked.refetch()} />}
      {one === undefined && !asked.error && <Loading />}
      {one === null && <p className="soft">{t("unknown")}</p>}
      {one && (
        <>
          <Card title={t("now")}>
            <Now one={one} />
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

/** Null: nobody has asked for a time of this key yet. */
async function known(type: string, key: string, signal: AbortSignal): Promise<TaskView | null> {
  try {
    return await getTasksTypeKey(type, key, { signal });
  } catch (error) {
    if (error instanceof Refused && error.status === 404 && !error.message.includes("has no job"))
      return null;
    throw error;
  }
}

function Acts({ type, id, one }: { type: string; id: string; one: TaskView | null }) {
  const { t } = useTranslation("tasks");
  const [asking, ask] = useState<"time" | "remove" | null>(null);
  const close = () => ask(null);
  return (
    <>
      <Act action="tasks.put" type="primary" onClick={() => ask("time")}>
        {one?.live ? t("time.move") : t("time.begin")}
      </Act>
      {one?.live && (
        <Act action="tasks.cancel" danger onClick={() => ask("remove")}>
          {t("remove.verb")}
        </Act>
      )}
      {asking === "time" && <SetTime type={type} id={id} one={one} onClose={close} />}
      {asking === "remove" && one && <Remove type={type} id={id} one={one} onClose={close} />}
    </>
  );
}
