import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { postBackfillGroups } from "../../api/generated/client";
import type { BackfillGroupItemView, StartedBackfillGroup } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { type Column, DataTable } from "../../parts/DataTable";
import { TextField } from "../../parts/Fields";
import { readLabels } from "../../parts/lines";
import { Card, Page } from "../../parts/Page";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { BackfillFields } from "./BackfillFields";
import { newDraft, requestOf } from "./draft";
import "./backfills.css";

/** Starts the same backfill for all jobs with some labels, an owner or a prefix. */
export function NewGroupPage() {
  const { t } = useTranslation("backfills");
  const [started, setStarted] = useState<StartedBackfillGroup | null>(null);
  return (
    <Page title={t("group.new")}>
      {started ? <StartedGroup group={started} /> : <GroupForm onStart={setStarted} />}
    </Page>
  );
}

function GroupForm({ onStart }: { onStart: (group: StartedBackfillGroup) => void }) {
  const { t } = useTranslation(["backfills", "jobs"]);
  const key = useIdempotencyKey();
  const [draft, setDraft] = useState(() => newDraft(Date.now()));
  const [labels, setLabels] = useState("");
  const [owner, setOwner] = useState("");
  const [prefix, setPrefix] = useState("");
  const [open, setOpen] = useState(false);
  const request = requestOf(draft);
  const jobs = [labels.split("\n").join(" "), owner, prefix && `${prefix}…`].filter(Boolean).join(" · ");
  return (
    <Card title={t("group.form")}>
      <div className="backfill-form">
        <p className="soft">{t("group.about")}</p>
        <TextField label={t("group.labels")} rows={2} value={labels} onChange={setLabels} />
        <TextField label={t("group.owner")} value={owner} onChange={setOwner} />
        <TextField label={t("group.prefix")} value={prefix} onChange={setPrefix} />
        <BackfillFields draft={draft} onChange={setDraft} />
        <ActionButton
          action="backfill_groups.start"
          type="primary"
          disabled={!request || !jobs}
          onClick={() => setOpen(true)}
        >
          {t("group.start")}
        </ActionButton>
      </div>
      {open && request && (
        <ConfirmDialog
          title={t("group.startTitle")}
          verb={t("group.start")}
          effect={[
            t("group.which", { jobs }),
            t("group.effect"),
            t(`modeEffect.${draft.mode}`),
            t("jobs:backfill.behind"),
          ]}
          onConfirm={async () => {
            const filter = { labels: readLabels(labels), owner: owner || null, prefix };
            onStart(await postBackfillGroups({ ...request, ...filter }, withIdempotencyKey(key)));
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Card>
  );
}

function StartedGroup({ group }: { group: StartedBackfillGroup }) {
  const { t } = useTranslation("backfills");
  const begun = group.items.filter((item) => item.backfill).length;
  const columns: Column<BackfillGroupItemView>[] = [
    {
      title: t("group.job"),
      show: (item) => (
        <Link to="/jobs/$job" params={{ job: item.name }} search={{ view: "backfills" }}>
          {item.name}
        </Link>
      ),
    },
    { title: t("group.fires"), kind: "number", show: (item) => item.backfill?.planned.toLocaleString() },
    {
      title: t("group.result"),
      show: (item) =>
        item.backfill ? (
          <span className="toned tone-good">{t("group.begun")}</span>
        ) : (
          <span className="toned tone-bad">
            <code>{item.code}</code> {item.message}
          </span>
        ),
    },
  ];
  return (
    <Card title={t("group.results")}>
      <p className="sentence">{t("group.summary", { begun, jobs: group.items.length })}</p>
      {begun > 0 && (
        <p>
          <Link to="/backfill-groups/$group" params={{ group: group.id }}>
            {t("group.follow")}
          </Link>
        </p>
      )}
      <DataTable
        caption={t("group.results")}
        columns={columns}
        items={group.items}
        id={(item) => item.job_id}
      />
    </Card>
  );
}
