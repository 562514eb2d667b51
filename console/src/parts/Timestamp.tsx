import { useTranslation } from "react-i18next";
import { ago, dateTime, myZone, offset } from "./times";

/** An instant in the given zone, or in the reader's; the title has the reader's local time. */
export function Timestamp({
  at,
  zone,
  relative,
}: {
  at: string | null | undefined;
  zone?: string;
  relative?: boolean;
}) {
  const { t, i18n } = useTranslation("frame");
  if (!at) return <span className="soft">{t("time.never")}</span>;
  const title = `${dateTime(at)} ${offset(at)} ${myZone()}`;
  const text = relative ? ago(at, Date.now(), i18n.language) : dateTime(at, zone);
  return (
    <time dateTime={at} title={title} className="moment">
      {text}
    </time>
  );
}
