import { useTranslation } from "react-i18next";
import type { HoldView } from "../api/generated/models";
import { markedTime } from "./times";
import "./parts.css";

/** A hold in one sentence: reason, start, number of waiting calls, and next attempt. */
export function HoldLine({ hold }: { hold: HoldView }) {
  const { t } = useTranslation("frame");
  return (
    <p className="hold" data-reason={hold.reason}>
      {t(`hold.${hold.reason}`, { name: hold.name, since: markedTime(hold.since) })}
      {hold.next_try_at && t("hold.next", { at: markedTime(hold.next_try_at) })}
      {t("hold.waiting", { count: hold.waiting })}
    </p>
  );
}
