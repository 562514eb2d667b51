import { Checkbox } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

/** The selected rows of a list, and the boxes of a page and of a row. Only tables with a selection load the boxes. */
export interface Selection<Item> {
  has: (item: Item) => boolean;
  all: (items: Item[]) => ReactNode;
  one: (item: Item) => ReactNode;
}

/** Returns a selection; `name` is what a row is called, and `onChange` hears which rows are selected or not any more. */
export function useSelection<Item>(
  has: (item: Item) => boolean,
  name: (item: Item) => string,
  onChange: (items: Item[], isSelected: boolean) => void,
): Selection<Item> {
  const { t } = useTranslation("lists");
  return {
    has,
    all: (items) => {
      const count = items.filter(has).length;
      return (
        <Checkbox
          aria-label={t("select.page")}
          checked={count === items.length}
          indeterminate={count > 0 && count < items.length}
          onChange={(event) => onChange(items, event.target.checked)}
        >
          {t("select.page")}
        </Checkbox>
      );
    },
    one: (item) => (
      <Checkbox
        aria-label={t("select.one", { name: name(item) })}
        checked={has(item)}
        onChange={(event) => onChange([item], event.target.checked)}
      />
    ),
  };
}
