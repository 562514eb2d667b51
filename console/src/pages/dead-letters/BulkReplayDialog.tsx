import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getDeadLetters, postDeadLettersReplay } from "../../api/generated/client";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { Field } from "../../parts/Field";
import type { DeadLetterFilters } from "./filters";

const MAX_COUNTED = 200;

/** Replays the dead letters of a filter, oldest first. It counts them before anything is sent. */
export function BulkReplayDialog({ filters, onClose }: { filters: DeadLetterFilters; onClose: () => void }) {
  const { t } = useTranslation("deadLetters");
  const { message } = App.useApp();
  const [limit, setLimit] = useState(1000);
  const queries = useQueryClient();
  const { job, tag, error_code } = filters;
  const waiting = useQuery({
    queryKey: ["dead-letters", "waiting", job, tag, error_code],
    queryFn: ({ signal }) =>
      getDeadLetters({ job, tag, error_code, status: "NEW", limit: MAX_COUNTED }, { signal }),
    staleTime: 0,
  });
  const filter = [job, error_code, tag && t("transient")].filter(Boolean).join(" · ") || t("many.all");
  return (
    <ConfirmDialog
      title={t("many.title")}
      verb={t("many.verb")}
      effect={[
        t("many.filter", { filter }),
        countText(waiting.data, t),
        t("many.order", { limit }),
        t("replay.same"),
        t("many.budget"),
      ]}
      onConfirm={async () => {
        const result = await postDeadLettersReplay({ job, tag, error_code, limit });
        await queries.invalidateQueries();
        message.info(t("many.done", { sent: result.sent, refused: result.refused }));
      }}
      onClose={onClose}
    >
      <Field label={t("many.limit")}>
        {(id) => (
          <InputNumber
            id={id}
            min={1}
            max={10_000}
            precision={0}
            value={limit}
            onChange={(value) => setLimit(value ?? 1)}
          />
        )}
      </Field>
    </ConfirmDialog>
  );
}

function countText(
  page: { items: unknown[]; next?: string | null } | undefined,
  t: ReturnType<typeof useTranslation<"deadLetters">>["t"],
): string {
  if (!page) return t("many.counting");
  return page.next
    ? t("many.moreThan", { count: page.items.length })
    : t("many.count", { count: page.items.length });
}
