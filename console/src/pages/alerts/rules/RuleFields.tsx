import { useQuery } from "@tanstack/react-query";
import { Checkbox, Select } from "antd";
import { useTranslation } from "react-i18next";
import { getAlertChannels } from "../../../api/generated/client";
import { useIsPermitted } from "../../../app/permissions";
import { useMe } from "../../../app/session";
import { Field } from "../../../parts/Field";
import { ChoiceField, NumberField, OptionalNumberField } from "../../../parts/Fields";
import { FACTS, kindsOf } from "../kinds";
import { SelectorFields } from "../SelectorFields";
import { type Draft, GROUPS, SEVERITIES } from "./draft";

const MAX_CHANNELS = 200;
const LONGEST_TIME_S = 2_592_000;
const SHORTEST_RESOLVE_S = 30;
const MAX_THRESHOLD = 1e9;

interface FieldsProps {
  draft: Draft;
  change: (part: Partial<Draft>) => void;
}

/** The fields of a rule: what is a fault, for which jobs, and what is sent. */
export function RuleFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation(["alertSettings", "alerts"]);
  const { me } = useMe();
  return (
    <>
      <ChoiceField
        label={t("rules.kind")}
        help={t(`alerts:meanings.${draft.kind}`)}
        value={draft.kind}
        choices={kindsOf(me?.tenant)}
        name={(kind) => t(`alerts:kinds.${kind}`)}
        onChange={(kind) => change({ kind, threshold: null })}
      />
      <ThresholdField draft={draft} change={change} />
      {FACTS[draft.kind].perJob && <SelectorFields draft={draft} change={change} />}
      <ChannelsField draft={draft} change={change} />
      <MessageFields draft={draft} change={change} />
      <Checkbox checked={draft.enabled} onChange={(event) => change({ enabled: event.target.checked })}>
        {t("rules.enabled")}
      </Checkbox>
    </>
  );
}

/** The threshold in the unit of its kind. A kind that is about each single case has none. */
function ThresholdField({ draft, change }: FieldsProps) {
  const { t } = useTranslation("alertSettings");
  const { threshold, unit } = FACTS[draft.kind];
  if (threshold === undefined || unit === undefined) return null;
  return (
    <OptionalNumberField
      label={t("rules.threshold", { unit: t(`rules.unit.${unit}`) })}
      help={t("rules.thresholdHelp", { value: threshold })}
      min={0}
      max={MAX_THRESHOLD}
      placeholder={String(threshold)}
      value={draft.threshold}
      onChange={(value) => change({ threshold: value })}
    />
  );
}

function ChannelsField({ draft, change }: FieldsProps) {
  const { t } = useTranslation("alertSettings");
  const query = useQuery({
    queryKey: ["alert-channels", "names"],
    queryFn: ({ signal }) => getAlertChannels({ limit: MAX_CHANNELS }, { signal }),
    enabled: useIsPermitted("alert_channels.list"),
  });
  return (
    <Field label={t("rules.channels")} help={t("rules.channelsHelp")}>
      {(id) => (
        <Select
          id={id}
          mode="tags"
          className="full"
          value={draft.channels}
          options={(query.data?.items ?? []).map((one) => ({ value: one.name, label: one.name }))}
          onChange={(channels: string[]) => change({ channels })}
        />
      )}
    </Field>
  );
}

/** The fields of messages: how serious, in which groups, and how often. */
function MessageFields({ draft, change }: FieldsProps) {
  const { t } = useTranslation(["alertSettings", "alerts"]);
  return (
    <>
      <ChoiceField
        label={t("rules.severity")}
        value={draft.severity}
        choices={SEVERITIES}
        name={(severity) =>
          severity === "default" ? t("rules.defaultSeverity") : t(`alerts:severity.${severity}`)
        }
        onChange={(severity) => change({ severity })}
      />
      <ChoiceField
        label={t("rules.groupBy")}
        value={draft.group_by}
        choices={GROUPS}
        name={(group) => t(`rules.group.${group}`)}
        onChange={(group_by) => change({ group_by })}
      />
      <NumberField
        label={t("rules.repeatAfter")}
        help={t("rules.repeatHelp")}
        min={0}
        max={LONGEST_TIME_S}
        value={draft.repeat_after}
        onChange={(repeat_after) => change({ repeat_after })}
      />
      <OptionalNumberField
        label={t("rules.resolveAfter")}
        help={t("rules.resolveHelp")}
        min={SHORTEST_RESOLVE_S}
        max={LONGEST_TIME_S}
        value={draft.resolve_after}
        onChange={(resolve_after) => change({ resolve_after })}
      />
    </>
  );
}
