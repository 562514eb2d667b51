import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { ActionButton } from "../../../parts/ActionButton";
import type { ListSearch } from "../routes";
import { BulkDialog } from "./BulkDialog";
import { type LastAction, useLastAction } from "./last-action";
import {
  BULK_VERBS,
  type BulkOutcome,
  type BulkVerb,
  NOTHING,
  OPPOSITE,
  type SelectedJobs,
  wantedOf,
} from "./selected-jobs";

/** What can be done to the selected jobs, what was done to them last, and its undo. */
export function BulkBar({ filters, selected, hasMore, onSelect }: BulkBarProps) {
  const { t } = useTranslation("lists");
  const [open, setOpen] = useState<BulkVerb | null>(null);
  const [done, setDone] = useLastAction();
  const finish = (verb: BulkVerb, isUndo: boolean) => (outcome: BulkOutcome) => {
    setDone({ changed: outcome.changed, refused: outcome.refused, verb, isUndo });
    onSelect(NOTHING);
  };
  const count = selected.names.size;
  return (
    <>
      {done && <DoneLine done={done} onUndone={finish} onHide={() => setDone(null)} />}
      {(selected.isAll || count > 0) && (
        <section className="bulk-bar" aria-label={t("select.count", { count })}>
          <span role="status">{selected.isAll ? t("select.isAll") : t("select.count", { count })}</span>
          {!selected.isAll && hasMore && (
            <Button size="small" type="link" onClick={() => onSelect({ isAll: true, names: new Set() })}>
              {t("select.all")}
            </Button>
          )}
          {BULK_VERBS.map((verb) => (
            <ActionButton key={verb} action="jobs.bulk" size="small" onClick={() => setOpen(verb)}>
              {t(`bulk.${verb}`)}
            </ActionButton>
          ))}
          <Button size="small" type="text" onClick={() => onSelect(NOTHING)}>
            {t("select.none")}
          </Button>
        </section>
      )}
      {open && (
        <BulkDialog
          verb={open}
          wanted={selected.isAll ? wantedOf(open, filters) : [...selected.names]}
          onDone={finish(open, false)}
          onClose={() => setOpen(null)}
        />
      )}
    </>
  );
}

interface BulkBarProps {
  filters: ListSearch;
  selected: SelectedJobs;
  hasMore: boolean;
  onSelect: (selected: SelectedJobs) => void;
}

function DoneLine({ done, onUndone, onHide }: DoneLineProps) {
  const { t } = useTranslation("lists");
  const [isOpen, setOpen] = useState(false);
  const opposite = done.isUndo ? undefined : OPPOSITE[done.verb];
  const count = done.changed.length.toLocaleString("en") as never;
  const [first] = done.refused;
  return (
    <div className="bulk-bar" role="status">
      <span>
        {done.isUndo ? t("bulk.undone", { count }) : t("bulk.done", { verb: t(`bulk.${done.verb}`), count })}
      </span>
      {first && <span>{t("bulk.refused", { count: done.refused.length, reason: first.message ?? "" })}</span>}
      {opposite && done.changed.length > 0 && (
        <ActionButton action="jobs.bulk" size="small" onClick={() => setOpen(true)}>
          {t("bulk.undo")}
        </ActionButton>
      )}
      <Button size="small" type="text" onClick={onHide}>
        {t("bulk.hide")}
      </Button>
      {isOpen && opposite && (
        <BulkDialog
          verb={opposite}
          wanted={done.changed}
          onDone={onUndone(opposite, true)}
          onClose={() => setOpen(false)}
        />
      )}
    </div>
  );
}

interface DoneLineProps {
  done: LastAction;
  onUndone: (verb: BulkVerb, isUndo: boolean) => (outcome: BulkOutcome) => void;
  onHide: () => void;
}
