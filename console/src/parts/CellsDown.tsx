import { useTranslation } from "react-i18next";

/** What a list had to do without. */
export function CellsDown({ cells }: { cells: string[] | undefined }) {
  const { t } = useTranslation("frame");
  if (!cells?.length) return null;
  return <p className="banner tone-bad">{t("list.cellsDown", { cells: cells.join(", ") })}</p>;
}
