import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { postMeasuresNameLift, postMeasuresNameOverride } from "../../api/generated/client";
import type { MeasureStateView } from "../../api/generated/models";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { NumberField, TextField } from "../../parts/Fields";

/** The key of the query of all measures. */
export const MEASURES = ["measures"];
const MAX_MINUTES = 7 * 24 * 60;

/** Switches a measure off for some minutes, or lifts the decision of a person, with a reason for the audit log. */
export function MeasureDecisionDialog({ state, onClose }: MeasureDecisionDialogProps) {
  const { t } = useTranslation("health");
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [minutes, setMinutes] = useState(60);
  const verb = state.override ? "lift" : "override";
  const onConfirm = async () => {
    if (reason.trim() === "") throw new Error(t("measures.needsReason"));
    const request = { tenant: state.tenant, reason: reason.trim() };
    const decided = state.override
      ? await postMeasuresNameLift(state.name, request)
      : await postMeasuresNameOverride(state.name, { ...request, in_force: false, minutes });
    await queries.invalidateQueries({ queryKey: MEASURES });
    if (decided.cells_down.length > 0) {
      throw new Error(t("measures.cellsDown", { cells: decided.cells_down.join(", ") }));
    }
  };
  return (
    <ConfirmDialog
      title={t(`measures.${verb}.title`, { name: state.name })}
      verb={t(`measures.${verb}.verb`)}
      effect={[t(`measures.${verb}.effect`), t("measures.audited")]}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      {verb === "override" && (
        <NumberField
          label={t("measures.minutes")}
          value={minutes}
          min={1}
          max={MAX_MINUTES}
          onChange={setMinutes}
        />
      )}
      <TextField label={t("measures.reason")} value={reason} onChange={setReason} />
    </ConfirmDialog>
  );
}

interface MeasureDecisionDialogProps {
  state: MeasureStateView;
  onClose: () => void;
}
