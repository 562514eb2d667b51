import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postForecastSpread, postPlansApply } from "../../api/generated/client";
import type {
  AppliedPlanView,
  ApplyRequest,
  PeakView,
  SpreadMoveView,
  SpreadProposalView,
  SpreadStayView,
} from "../../api/generated/models";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Field } from "../../parts/Field";
import { Loading } from "../../parts/Loading";
import { secondsText } from "../../parts/times";
import { useSettled } from "../../parts/useSettled";

const WITHIN_S = 300;
const MAX_WITHIN_S = 3_600;

/** Shows which windows would spread the jobs, and the busiest second before and after; then sets the windows. */
export function SpreadDialog({ jobs, hours, onApplied, onClose }: SpreadDialogProps) {
  const { t } = useTranslation("forecast");
  const [within, setWithin] = useState(WITHIN_S);
  const settled = Number(useSettled(String(within)));
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ["spread", jobs, hours, settled],
    queryFn: ({ signal }) => postForecastSpread({ jobs, hours, within: settled }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const proposal = query.data;
  const isCurrent = settled === within && !query.isPlaceholderData && !query.isFetching;
  return (
    <ConfirmDialog
      title={t("spread.title", { count: jobs.length })}
      verb={t("spread.apply")}
      effect={useEffectLines(proposal)}
      impossible={!proposal?.plan || !isCurrent}
      onConfirm={async () => {
        onApplied(await postPlansApply(proposal?.plan as unknown as ApplyRequest));
        await Promise.all([
          queries.invalidateQueries({ queryKey: ["forecast"] }),
          queries.invalidateQueries({ queryKey: ["jobs"] }),
          queries.invalidateQueries({ queryKey: ["job"] }),
        ]);
      }}
      onClose={onClose}
    >
      <Field label={t("spread.within")} help={t("spread.withinHelp")}>
        {(id) => (
          <InputNumber
            id={id}
            min={1}
            max={MAX_WITHIN_S}
            precision={0}
            value={within}
            onChange={(value) => setWithin(value ?? WITHIN_S)}
          />
        )}
      </Field>
      {query.error ? (
        <ErrorMessage error={query.error} />
      ) : proposal ? (
        <Changes proposal={proposal} />
      ) : (
        <Loading />
      )}
    </ConfirmDialog>
  );
}

interface SpreadDialogProps {
  jobs: string[];
  hours: number;
  onApplied: (plan: AppliedPlanView) => void;
  onClose: () => void;
}

function useEffectLines(proposal: SpreadProposalView | undefined): string[] {
  const { t } = useTranslation("forecast");
  const fires = (peak: PeakView | null | undefined) => peak?.fires ?? 0;
  if (!proposal) return [t("spread.counting")];
  if (!proposal.plan) return [t("spread.nothing")];
  return [
    t("spread.peak", { before: fires(proposal.before), after: fires(proposal.after) }),
    t("spread.ownPeak", { before: fires(proposal.own_before), after: fires(proposal.own_after) }),
    t("spread.same"),
  ];
}

function Changes({ proposal }: { proposal: SpreadProposalView }) {
  const { t } = useTranslation("forecast");
  const columns: Column<SpreadMoveView>[] = [
    { title: t("job"), show: (move) => move.job },
    { title: t("owner"), show: (move) => move.owner ?? "" },
    { title: t("window"), kind: "number", show: (move) => secondsText(move.window) },
    { title: t("later"), kind: "number", show: (move) => secondsText(move.later_s) },
  ];
  const sources = [...new Set(proposal.moves.flatMap((move) => move.source ?? []))];
  return (
    <>
      {proposal.moves.length > 0 && (
        <DataTable
          caption={t("spread.moves")}
          columns={columns}
          items={proposal.moves}
          id={(move) => move.job}
        />
      )}
      {sources.length > 0 && <p>{t("spread.sources", { sources: sources.join(", ") })}</p>}
      {proposal.stays.length > 0 && <Stays stays={proposal.stays} />}
    </>
  );
}

/** The jobs that stay at their seconds, by reason. */
function Stays({ stays }: { stays: SpreadStayView[] }) {
  const { t } = useTranslation("forecast");
  const reasons = [...new Set(stays.map((one) => one.reason))];
  return (
    <>
      <h3 className="soft">{t("spread.stays")}</h3>
      <ul>
        {reasons.map((reason) => (
          <li key={reason}>
            {t(`stay.${reason}`)}:{" "}
            {stays
              .filter((one) => one.reason === reason)
              .map((one) => one.job)
              .join(", ")}
          </li>
        ))}
      </ul>
    </>
  );
}
