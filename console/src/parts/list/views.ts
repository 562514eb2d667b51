/** Saved views of a list: a name and the filters of its address. They are kept in this browser, per person and tenant. */
import { useState } from "react";
import { readPreference, savePreference } from "../../app/preferences";
import { useMe } from "../../app/session";

export type Filters = Record<string, unknown>;

export interface SavedView {
  name: string;
  filters: Filters;
}

export const MAX_VIEWS = 50;

export function readViews(text: string | null): SavedView[] {
  try {
    const read: unknown = JSON.parse(text ?? "[]");
    return Array.isArray(read) ? read.filter(isView).slice(0, MAX_VIEWS) : [];
  } catch {
    return [];
  }
}

function isView(one: unknown): one is SavedView {
  const view = one as SavedView | null;
  return typeof view?.name === "string" && typeof view.filters === "object" && view.filters !== null;
}

/** Returns the views with one more; a view with the same name is replaced. */
export const withView = (views: SavedView[], view: SavedView): SavedView[] =>
  [...views.filter((one) => one.name !== view.name), view]
    .sort((a, b) => a.name.localeCompare(b.name))
    .slice(0, MAX_VIEWS);

/** The parameters that hold a place in a list; a page with several lists has one for each. */
const PLACES: ReadonlySet<string> = new Set(["cursor", "open", "acknowledged", "resolved"]);

/** Returns the filters of an address, without the place in the list. */
export const filtersOf = (search: Filters): Filters =>
  Object.fromEntries(
    Object.entries(search).filter(([name, value]) => !PLACES.has(name) && value !== undefined),
  );

export function useViews(list: string): [SavedView[], (views: SavedView[]) => void] {
  const { me } = useMe();
  const name = `views.${me?.principal ?? ""}.${me?.tenant ?? ""}.${list}`;
  const [views, setViews] = useState(() => readViews(readPreference(name)));
  const save = (next: SavedView[]) => {
    savePreference(name, JSON.stringify(next));
    setViews(next);
  };
  return [views, save];
}
