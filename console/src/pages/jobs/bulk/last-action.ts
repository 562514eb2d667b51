/** The last bulk action of a person in a tenant. It is kept in this tab, so that its undo outlives the page. */
import { useState } from "react";
import { useMe } from "../../../app/session";
import { readNote, saveNote } from "../../../app/tab-notes";
import { BULK_VERBS, type BulkOutcome, type BulkVerb } from "./selected-jobs";

export interface LastAction extends BulkOutcome {
  verb: BulkVerb;
  isUndo: boolean;
}

/** Returns the action that a note has; null for anything else. */
export function readAction(text: string | null): LastAction | null {
  try {
    const read = JSON.parse(text ?? "null") as LastAction | null;
    return read && BULK_VERBS.includes(read.verb) && isNames(read.changed) && Array.isArray(read.refused)
      ? read
      : null;
  } catch {
    return null;
  }
}

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

export function useLastAction(): [LastAction | null, (action: LastAction | null) => void] {
  const { me } = useMe();
  const name = `bulk.${me?.principal ?? ""}.${me?.tenant ?? ""}`;
  const [action, setAction] = useState(() => readAction(readNote(name)));
  const save = (next: LastAction | null) => {
    saveNote(name, next && JSON.stringify(next));
    setAction(next);
  };
  return [action, save];
}
