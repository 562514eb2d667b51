import { useTranslation } from "react-i18next";
import type { HoldView } from "../api/generated/models";
import { dateTime } from "./times";
import "./parts.css";

/** What calls wait for, in one sentence: why, since when, how many, and when the next one is tried. */
export function HoldLine({ hold }: { hold: HoldView }) {
  const { t } = useTranslation("frame");
  return (
    <p className="hold" data-reason={hold.reason}>
      {t(`hold.${hold.reason}`, { name: hold.name, since: dateTime(hold.since) })}
      {hold.next_try_at && t("hold.next", { at: dateTime(hold.next_try_at) })}
      {t("hold.waiting", { count: hold.waiting })}
    </p>
  );
}
