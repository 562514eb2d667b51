import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getQueues } from "../../api/generated/client";
import { useIsPermitted } from "../../app/permissions";
import { markedTime } from "../../parts/times";

const REFRESH_MS = 10_000;

/** Says that instances wait in the queue of a job and that no worker takes them. Otherwise it shows nothing. */
export function QueueLine({ name }: { name: string }) {
  const { t } = useTranslation("jobs");
  const permitted = useIsPermitted("queues.list");
  const { data } = useQuery({
    queryKey: ["queues", "name", name],
    queryFn: ({ signal }) => getQueues({ name }, { signal }),
    refetchInterval: REFRESH_MS,
    enabled: permitted,
  });
  const queue = data?.items[0];
  if (!queue?.unattended || !queue.oldest_waiting_since) return null;
  const since = markedTime(queue.oldest_waiting_since);
  return <p className="hold">{t("facts.unattended", { name, since, count: queue.waiting })}</p>;
}
