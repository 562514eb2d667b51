import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { getDeadLetters } from "../../api/generated/client";
import { compact, countOpen, type Selection } from "./selection";

const MAX_COUNTED = 200;

/** The sentence with the number of open dead letters of a selection, counted before anything is done. */
export function useOpenCount(selection: Selection): string {
  const { t } = useTranslation("deadLetters");
  const known = selection.open;
  const { data } = useQuery({
    queryKey: ["dead-letters", "open", selection.filter],
    queryFn: ({ signal }) => getDeadLetters({ ...compact(selection.filter), limit: MAX_COUNTED }, { signal }),
    staleTime: 0,
    enabled: known === undefined,
  });
  if (known !== undefined) return t("many.count", { count: known });
  if (!data) return t("many.counting");
  return t(data.next ? "many.moreThan" : "many.count", { count: countOpen(data.items) });
}
