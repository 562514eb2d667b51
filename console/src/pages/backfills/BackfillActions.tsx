import { Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";

type Change = "pause" | "resume" | "cancel";
const CHANGES: Record<string, readonly Change[]> = {
  RUNNING: ["pause", "cancel"],
  PAUSED: ["resume", "cancel"],
};

interface BackfillActionsProps {
  status: string;
  resource: "backfills" | "backfill_groups";
  onChange: (change: Change) => Promise<unknown>;
}

/** Pause, resume and cancel of a backfill or of a group; each says its effect first. */
export function BackfillActions({ status, resource, onChange }: BackfillActionsProps) {
  const { t } = useTranslation("backfills");
  const [open, setOpen] = useState<Change | null>(null);
  const changes = CHANGES[status];
  if (!changes) return <>–</>;
  return (
    <Space size={4}>
      {changes.map((change) => (
        <ActionButton
          key={change}
          action={`${resource}.${change}`}
          size="small"
          danger={change === "cancel"}
          onClick={() => setOpen(change)}
        >
          {t(`${change}.verb`)}
        </ActionButton>
      ))}
      {open && (
        <ConfirmDialog
          title={t(`${open}.title`)}
          verb={t(`${open}.verb`)}
          danger={open === "cancel"}
          effect={[t(`${open}.effect`), t(`${open}.stay`)]}
          onConfirm={async () => {
            await onChange(open);
            await queries.invalidateQueries();
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </Space>
  );
}
