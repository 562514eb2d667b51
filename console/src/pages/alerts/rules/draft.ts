/** The draft in the form of an alert rule, and its conversion to a request body. */
import type { AlertRuleView, AlertSeverity, NewAlertRule } from "../../../api/generated/models";
import { FACTS, type Kind } from "../kinds";
import { EMPTY_SELECTOR, type SelectorDraft, selectorDraftOf, selectorOf } from "../SelectorFields";

export const SEVERITIES = ["default", "critical", "warning", "info"] as const;
export const GROUPS = ["job", "tenant"] as const;

export interface Draft extends SelectorDraft {
  name: string;
  kind: Kind;
  threshold: number | null;
  severity: AlertSeverity | "default";
  channels: string[];
  group_by: (typeof GROUPS)[number];
  repeat_after: number;
  resolve_after: number | null;
  enabled: boolean;
}

export const EMPTY: Draft = {
  ...EMPTY_SELECTOR,
  name: "",
  kind: "dead_letter",
  threshold: null,
  severity: "default",
  channels: [],
  group_by: "job",
  repeat_after: 3_600,
  resolve_after: null,
  enabled: true,
};

export const draftOf = (rule: AlertRuleView): Draft => ({
  ...selectorDraftOf(rule),
  name: rule.name,
  kind: rule.kind,
  threshold: rule.threshold,
  severity: rule.severity ?? "default",
  channels: rule.channels,
  group_by: rule.group_by === "tenant" ? "tenant" : "job",
  repeat_after: rule.repeat_after,
  resolve_after: rule.resolve_after,
  enabled: rule.enabled,
});

/** Returns the request body. Fields that the kind does not have are left empty. */
export function ruleOf(draft: Draft): NewAlertRule {
  const { perJob, threshold } = FACTS[draft.kind];
  return {
    ...selectorOf(perJob ? draft : EMPTY_SELECTOR),
    kind: draft.kind,
    threshold: threshold === undefined ? null : draft.threshold,
    severity: draft.severity === "default" ? null : draft.severity,
    channels: draft.channels,
    group_by: draft.group_by,
    repeat_after: draft.repeat_after,
    resolve_after: draft.resolve_after,
    enabled: draft.enabled,
  };
}
