import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionButton } from "../../parts/ActionButton";
import { DiscardManyDialog, TagManyDialog } from "./ManyDialogs";
import { PacedReplayDialog } from "./PacedReplayDialog";
import type { Selection } from "./selection";

/** What can be done with many dead letters: replay at a pace, tag, discard. */
export function SelectionActions({ selection }: { selection: Selection }) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const [open, setOpen] = useState<"replay" | "tag" | "discard" | null>(null);
  const isCause = selection.open !== undefined;
  const close = () => setOpen(null);
  return (
    <>
      <ActionButton action="paced_replays.start" type="primary" onClick={() => setOpen("replay")}>
        {t(isCause ? "deadLetters:many.verb" : "deadLetters:many.open")}
      </ActionButton>
      <ActionButton action="dead_letters.tag" onClick={() => setOpen("tag")}>
        {t("tags.open")}
      </ActionButton>
      <ActionButton action="dead_letters.discard_many" danger onClick={() => setOpen("discard")}>
        {t(isCause ? "discard.verb" : "discard.open")}
      </ActionButton>
      {open === "replay" && <PacedReplayDialog selection={selection} onClose={close} />}
      {open === "tag" && <TagManyDialog selection={selection} onClose={close} />}
      {open === "discard" && <DiscardManyDialog selection={selection} onClose={close} />}
    </>
  );
}
