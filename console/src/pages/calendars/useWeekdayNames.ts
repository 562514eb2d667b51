import { useTranslation } from "react-i18next";
import { weekday } from "../../parts/times";

/** Returns the short name of a weekday by its ISO number; 1 is Monday. */
export function useWeekdayNames(): (number: number) => string {
  const { i18n } = useTranslation();
  return (number) => weekday(`2026-06-0${number}T12:00:00Z`, i18n.language, "UTC"); // 1 June 2026 is a Monday
}
