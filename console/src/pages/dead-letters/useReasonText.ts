import { useTranslation } from "react-i18next";
import { findReason } from "./replay-reasons";

/** Returns the text of a reason in the language of the console; one that is not known stays as the server wrote it. */
export function useReasonText(): (reason: string | null | undefined) => string {
  const { t } = useTranslation("triage");
  return (reason) => {
    const found = reason ? findReason(reason) : null;
    return found ? t(`reason.${found.name}`, { ...found.blanks }) : (reason ?? "–");
  };
}
