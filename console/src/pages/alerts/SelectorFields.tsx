import { useTranslation } from "react-i18next";
import { TextField } from "../../parts/Fields";
import { labelTexts, readLabels } from "../../parts/lines";

/** The jobs that a rule or a silence is about, as a form has them. */
export interface SelectorDraft {
  job: string;
  owner: string;
  labels: string;
}

export const EMPTY_SELECTOR: SelectorDraft = { job: "", owner: "", labels: "" };

/** The jobs that a rule or a silence is about, as the API has them. */
interface Selector {
  job: string | null;
  owner: string | null;
  labels: Record<string, string>;
}

export const selectorDraftOf = ({ job, owner, labels }: Selector): SelectorDraft => ({
  job: job ?? "",
  owner: owner ?? "",
  labels: labelTexts(labels).join("\n"),
});

export const selectorOf = ({ job, owner, labels }: SelectorDraft): Selector => ({
  job: job.trim() || null,
  owner: owner.trim() || null,
  labels: readLabels(labels),
});

export const isEmptySelector = (draft: SelectorDraft): boolean =>
  !(draft.job.trim() || draft.owner.trim() || draft.labels.trim());

/** The fields that select jobs: by name, owner and labels. */
export function SelectorFields({
  draft,
  change,
}: {
  draft: SelectorDraft;
  change: (part: Partial<SelectorDraft>) => void;
}) {
  const { t } = useTranslation("alertSettings");
  return (
    <>
      <TextField
        label={t("selector.job")}
        help={t("selector.jobHelp")}
        value={draft.job}
        onChange={(job) => change({ job })}
      />
      <TextField
        label={t("selector.owner")}
        help={t("selector.ownerHelp")}
        value={draft.owner}
        onChange={(owner) => change({ owner })}
      />
      <TextField
        label={t("selector.labels")}
        help={t("selector.labelsHelp")}
        rows={2}
        value={draft.labels}
        onChange={(labels) => change({ labels })}
      />
    </>
  );
}

/** A selector as text. */
export function SelectorText({ selector }: { selector: Selector }) {
  const { t } = useTranslation("alertSettings");
  const parts = [
    selector.job !== null && t("selector.jobIs", { job: selector.job }),
    selector.owner !== null && t("selector.ownerIs", { owner: selector.owner }),
    ...labelTexts(selector.labels),
  ].filter(Boolean);
  return <>{parts.join(t("comma")) || t("selector.everything")}</>;
}
