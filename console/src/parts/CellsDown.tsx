import { useTranslation } from "react-i18next";

/** A notice of the cells whose rows are missing from a list. */
export function CellsDown({ cells }: { cells: string[] | undefined }) {
  const { t } = useTranslation("frame");
  if (!cells?.length) return null;
  return <p className="banner tone-bad">{t("list.cellsDown", { cells: cells.join(", ") })}</p>;
}
