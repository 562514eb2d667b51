import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { postJobBackfillPlan } from "../../api/generated/client";
import type { BackfillPlanView, NewBackfill, PaceBoundView } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { secondsText } from "../../parts/times";
import { useSettled } from "../../parts/useSettled";
import { paceText } from "./draft";
import "./backfills.css";

/** What a backfill would do, by a dry run: how many fires, how long, what load. It follows the form. */
export function DryRun({ job, request }: { job: string; request: NewBackfill | null }) {
  const { t } = useTranslation("backfills");
  const permitted = useIsPermitted("backfills.plan");
  const settled = useSettled(JSON.stringify(request));
  const query = useQuery({
    queryKey: ["backfill-plan", job, settled],
    queryFn: ({ signal }) => postJobBackfillPlan(job, JSON.parse(settled), { signal }),
    enabled: permitted && settled !== "null",
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  if (!permitted) return null;
  return (
    <section className="dry-run" aria-label={t("plan.title")} aria-live="polite">
      <h3>{t("plan.title")}</h3>
      {request === null && <p className="soft">{t("plan.noRange")}</p>}
      {request !== null && query.error && <ErrorMessage error={query.error} />}
      {request !== null && !query.error && !query.data && <p className="soft">{t("plan.running")}</p>}
      {request !== null && !query.error && query.data && <Plan plan={query.data} />}
    </section>
  );
}

function Plan({ plan }: { plan: BackfillPlanView }) {
  const { t } = useTranslation("backfills");
  return (
    <>
      <p>
        <strong>{t("plan.needed", { needed: plan.needed, planned: plan.planned })}</strong>{" "}
        {plan.duration_s === null || plan.duration_s === undefined
          ? t("plan.noNode")
          : t("plan.duration", { length: secondsText(Math.ceil(plan.duration_s)) })}
      </p>
      <ul>
        <li>
          {plan.succeeded === null || plan.succeeded === undefined
            ? t("plan.notCounted")
            : t("plan.before", { succeeded: plan.succeeded, failed: plan.failed ?? 0 })}
        </li>
        <li>
          {t("plan.load", {
            pace: paceText(plan.calls_per_s),
            slots: paceText(plan.slots),
            nodes: plan.nodes,
            call: secondsText(plan.call_s),
          })}
        </li>
      </ul>
      <details>
        <summary>{t("plan.bounds")}</summary>
        <ul>
          {plan.bounds.map((bound) => (
            <li key={`${bound.bound} ${bound.name}`}>
              <Bound bound={bound} />
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

function Bound({ bound }: { bound: PaceBoundView }) {
  const { t } = useTranslation("backfills");
  return (
    <>
      {t(`bound.${bound.bound}`)} {bound.name && <code>{bound.name}</code>}:{" "}
      {t("plan.pace", { pace: paceText(bound.calls_per_s) })}
    </>
  );
}
