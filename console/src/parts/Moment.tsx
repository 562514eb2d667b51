import { useTranslation } from "react-i18next";
import { ago, dateTime, myZone, offset } from "./times";

/** An instant: in a zone where one is named, else in the reader's own; the other reading stands in the title. */
export function Moment({
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
  const mine = `${dateTime(at)} ${offset(at)} ${myZone()}`;
  const shown = relative ? ago(at, Date.now(), i18n.language) : dateTime(at, zone);
  return (
    <time dateTime={at} title={mine} className="moment">
      {shown}
    </time>
  );
}
