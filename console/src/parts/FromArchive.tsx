import { useTranslation } from "react-i18next";

/** What the server read from the archive for a page. */
export interface ArchiveRead {
  days: number;
  seconds: number;
}

/** A quiet line below a list that has items from the archive. */
export function FromArchive({ read }: { read: ArchiveRead | null | undefined }) {
  const { t } = useTranslation("frame");
  if (!read) return null;
  return <p className="soft">{t("list.archive", { days: read.days, seconds: read.seconds.toFixed(2) })}</p>;
}
