import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionButton } from "./ActionButton";
import { ConfirmDialog } from "./ConfirmDialog";

export type PauseAction = "pause" | "resume";

interface PauseButtonProps {
  resource: "subscriptions" | "intakes" | "sources" | "tenants" | "tenant";
  paused: boolean;
  texts: (verb: PauseAction) => { title: string; verb?: string; effect: string[] };
  onConfirm: (verb: PauseAction) => Promise<unknown>;
  size?: "small";
  danger?: boolean;
}

/** A button that pauses or resumes a resource, with a dialog that lists the effects. */
export function PauseButton({ resource, paused, texts, onConfirm, size, danger }: PauseButtonProps) {
  const { t } = useTranslation("frame");
  const [open, setOpen] = useState<PauseAction | null>(null);
  const queries = useQueryClient();
  const verb = paused ? "resume" : "pause";
  const label = (verb: PauseAction) => texts(verb).verb ?? t(`pauseButton.${verb}`);
  return (
    <>
      <ActionButton
        action={`${resource}.${verb}`}
        size={size}
        danger={danger && !paused}
        onClick={() => setOpen(verb)}
      >
        {label(verb)}
      </ActionButton>
      {open && (
        <ConfirmDialog
          {...texts(open)}
          verb={label(open)}
          danger={danger && open === "pause"}
          onConfirm={async () => {
            await onConfirm(open);
            await queries.invalidateQueries();
          }}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}
