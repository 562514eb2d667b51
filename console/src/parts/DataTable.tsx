import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Loading } from "./Loading";
import type { Selection } from "./list/Selection";
import { type Sortable, type Sorting, SortMark, sortState } from "./list/sorting";
import "./parts.css";

/**
 * A column: `number` is aligned to the right, `tight` is not wrapped, `wide` has room for addresses. `id` is its
 * name in every language, `sort` the order that the API has for it; an `extra` column is hidden until somebody chooses it.
 */
export interface Column<Item> extends Sortable {
  title: string;
  show: (item: Item) => ReactNode;
  kind?: "number" | "tight" | "wide";
  id?: string;
  extra?: boolean;
}

/** A table; on a phone, its rows are cards. */
export function DataTable<Item>({
  caption,
  columns,
  items,
  id,
  empty,
  selection,
  sorting,
}: DataTableProps<Item>) {
  const { t } = useTranslation("frame");
  if (items === undefined) return <Loading />;
  if (items.length === 0) return <>{empty ?? <p className="soft">{t("list.none")}</p>}</>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
    <div className="rows" role="group" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {selection && (
              <th scope="col" className="check">
                {selection.all(items)}
              </th>
            )}
            {columns.map((column) => (
              <th
                key={column.title}
                scope="col"
                className={column.kind}
                aria-sort={sortState(column, sorting)}
              >
                <SortMark column={column} sorting={sorting} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={id(item)} className={selection?.has(item) ? "chosen" : undefined}>
              {selection && <td className="check">{selection.one(item)}</td>}
              {columns.map((column) => (
                <td key={column.title} data-label={column.title} className={column.kind}>
                  <div>{column.show(item)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface DataTableProps<Item> {
  caption: string;
  columns: Column<Item>[];
  items: Item[] | undefined;
  id: (item: Item) => string;
  empty?: ReactNode;
  selection?: Selection<Item>;
  sorting?: Sorting;
}
