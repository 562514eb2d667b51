import { useState } from "react";
import { useTranslation } from "react-i18next";
import { queries } from "../../app/queries";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";

/** A button that removes a channel, a rule or a silence, with a dialog that lists the effects. */
export function RemoveButton({ action, title, verb, effect, queryKey, onRemove }: RemoveButtonProps) {
  const { t } = useTranslation("alertSettings");
  const [open, setOpen] = useState(false);
  const text = verb ?? t("remove");
  return (
    <>
      <ActionButton action={action} size="small" danger onClick={() => setOpen(true)}>
        {text}
      </ActionButton>
      {open && (
        <ConfirmDialog
          title={title}
          verb={text}
          danger
          effect={effect}
          onConfirm={async () => {
            await onRemove();
            await queries.invalidateQueries({ queryKey: [queryKey] });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}

interface RemoveButtonProps {
  action: string;
  title: string;
  verb?: string;
  effect: string[];
  queryKey: string;
  onRemove: () => Promise<unknown>;
}
