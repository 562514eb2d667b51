import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Loading } from "./Loading";
import "./parts.css";

/** A column: `number` is aligned to the right, `tight` is not wrapped. */
export interface Column<Item> {
  title: string;
  show: (item: Item) => ReactNode;
  kind?: "number" | "tight";
}

/** A table; on a phone, its rows are cards. */
export function DataTable<Item>({ caption, columns, items, id, empty }: DataTableProps<Item>) {
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
            {columns.map((column) => (
              <th key={column.title} scope="col" className={column.kind}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={id(item)}>
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
}
