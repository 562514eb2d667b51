import { useTranslation } from "react-i18next";

/** The order of a list: the name that the API has for it, and how it is chosen. All orders are descending. */
export interface Sorting {
  by: string | undefined;
  onSort: (by: string | undefined) => void;
}

/** What a column says about the order of the rows; nothing for a column that no order belongs to. */
export function sortState(sort: string | undefined, sorting: Sorting | undefined) {
  if (!sort || !sorting) return undefined;
  return sorting.by === sort ? "descending" : "none";
}

/** The title of a column; a button if the API can sort by it. */
export function SortMark({ title, sort, sorting }: SortMarkProps) {
  const { t } = useTranslation("lists");
  if (!sort || !sorting) return title;
  const isHere = sorting.by === sort;
  return (
    <button
      type="button"
      className="sort"
      title={t(isHere ? "sort.usual" : "sort.by", { column: title })}
      onClick={() => sorting.onSort(isHere ? undefined : sort)}
    >
      {title} <span aria-hidden="true">{isHere ? "↓" : "↕"}</span>
    </button>
  );
}

interface SortMarkProps {
  title: string;
  sort: string | undefined;
  sorting: Sorting | undefined;
}
