import { useState } from "react";
import { readPreference, savePreference } from "../../app/preferences";
import { useMe } from "../../app/session";
import type { Column } from "../DataTable";

export const columnId = <Item>(column: Column<Item>): string => column.id ?? column.title;

/** Returns the columns that are shown: all but the extra ones, unless somebody chose otherwise; never none. */
export function visibleColumns<Item>(columns: Column<Item>[], chosen: string[] | null): Column<Item>[] {
  const usual = columns.filter((column) => !column.extra);
  if (chosen === null) return usual;
  const visible = columns.filter((column) => chosen.includes(columnId(column)));
  return visible.length > 0 ? visible : usual;
}

export function readColumns(text: string | null): string[] | null {
  try {
    const read: unknown = JSON.parse(text ?? "null");
    return Array.isArray(read) && read.every((one) => typeof one === "string") ? read : null;
  } catch {
    return null;
  }
}

/** The columns of a list that a person chose in this browser; null: the usual ones. */
export function useChosenColumns(list: string): [string[] | null, (ids: string[] | null) => void] {
  const name = `columns.${useMe().me?.principal ?? ""}.${list}`;
  const [chosen, setChosen] = useState(() => readColumns(readPreference(name)));
  const choose = (ids: string[] | null) => {
    savePreference(name, JSON.stringify(ids));
    setChosen(ids);
  };
  return [chosen, choose];
}
