import { useTranslation } from "react-i18next";

/** The order of a list: the name that the API has for it, and how it is chosen. */
export interface Sorting {
  by: string | undefined;
  onSort: (by: string | undefined) => void;
}

/** What a column has to do with orders. Times come newest first, those to come `soonestFirst`. */
export interface Sortable {
  sort?: string;
  soonestFirst?: boolean;
}

/** What a column says about the order of the rows; nothing for a column that no order belongs to. */
export function sortState({ sort, soonestFirst }: Sortable, sorting: Sorting | undefined) {
  if (!sort || !sorting) return undefined;
  if (sorting.by !== sort) return "none";
  return soonestFirst ? "ascending" : "descending";
}

/** The title of a column; a button if the API can sort by it. */
export function SortMark({ column, sorting }: { column: Sortable & { title: string }; sorting?: Sorting }) {
  const { t } = useTranslation("lists");
  const { title, sort, soonestFirst } = column;
  if (!sort || !sorting) return title;
  const isHere = sorting.by === sort;
  const help = isHere ? "sort.usual" : soonestFirst ? "sort.soonest" : "sort.by";
  return (
    <button
      type="button"
      className="sort"
      title={t(help, { column: title })}
      onClick={() => sorting.onSort(isHere ? undefined : sort)}
    >
      {title} <span aria-hidden="true">{isHere ? (soonestFirst ? "↑" : "↓") : "↕"}</span>
    </button>
  );
}
