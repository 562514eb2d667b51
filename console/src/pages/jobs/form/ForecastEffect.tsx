import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { postForecast } from "../../../api/generated/client";
import type { JobView, WhatIfView } from "../../../api/generated/models";
import { useIsPermitted } from "../../../app/permissions";
import { markedTime } from "../../../parts/times";
import { type Draft, specOf } from "./draft";
import { schedulePart, useDebounced } from "./schedule-part";

/** What the job would do to the forecast, before it is saved: one request after typing has stopped. */
export function ForecastEffect({ draft, base }: { draft: Draft; base?: JobView }) {
  const { t } = useTranslation("forecast");
  const permitted = useIsPermitted("jobs.forecast");
  const debounced = useDebounced(schedulePart(draft));
  const isRecurring = draft.kind === "cron" || draft.kind === "interval";
  const query = useQuery({
    queryKey: ["forecast", "effect", debounced],
    queryFn: ({ signal }) =>
      postForecast(specOf(JSON.parse(debounced) as Draft, base), { hours: 24 }, { signal }),
    enabled: permitted && isRecurring,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 30_000,
  });
  if (!permitted || !isRecurring || query.error) return null; // the preview shows why a schedule is refused
  return (
    <section aria-label={t("whatIf.title")} aria-live="polite">
      <h3>{t("whatIf.title")}</h3>
      {query.data ? <Effect effect={query.data} /> : <p className="soft">{t("whatIf.counting")}</p>}
    </section>
  );
}

function Effect({ effect }: { effect: WhatIfView }) {
  const { t, i18n } = useTranslation("forecast");
  const { own, after } = effect;
  const share = new Intl.NumberFormat(i18n.language, { style: "percent", maximumSignificantDigits: 2 });
  if (!own || !after) return <p className="soft">{t("whatIf.none")}</p>;
  return (
    <ul className="notes">
      <li>
        {t("whatIf.peak", {
          before: effect.before?.fires ?? 0,
          after: after.fires,
          at: markedTime(after.at),
        })}
      </li>
      <li>{t("whatIf.own", { fires: own.fires, at: markedTime(own.at) })}</li>
      <li>
        {t(`whatIf.share.${effect.limited_by}`, {
          share: share.format(effect.share),
          capacity: effect.capacity.toLocaleString(),
        })}
      </li>
      <li>{t("whatIf.fires", { before: effect.fires_before, after: effect.fires_after })}</li>
      {!effect.complete && <li>{t("incomplete")}</li>}
    </ul>
  );
}
