import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getAlerts } from "../../api/generated/client";

const REFRESH_MS = 15_000;
const MAX_COUNTED = 100;

/** The number of open alerts, beside their link in the menu; nothing while there are none. */
export function OpenAlerts() {
  const { t } = useTranslation("frame");
  const page = useQuery({
    queryKey: ["alerts", "count"],
    queryFn: ({ signal }) => getAlerts({ state: "OPEN", limit: MAX_COUNTED }, { signal }),
    refetchInterval: REFRESH_MS,
  }).data;
  if (!page?.items.length) return null;
  const count = page.next ? `${page.items.length}+` : String(page.items.length);
  return (
    <span className="menu-count tone-bad">
      <span aria-hidden="true">{count}</span>
      <span className="unseen">{t("openAlerts", { count })}</span>
    </span>
  );
}
