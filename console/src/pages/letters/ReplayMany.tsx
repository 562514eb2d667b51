import { useQuery, useQueryClient } from "@tanstack/react-query";
import { App, InputNumber } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getDeadLetters, postDeadLettersReplay } from "../../api/generated/client";
import { Confirm } from "../../parts/Confirm";
import { Field } from "../../parts/Field";
import type { Sought } from "./sought";

const COUNTED = 200;

/** All letters that a filter names, oldest first. How many wait is counted before anything is sent. */
export function ReplayMany({ sought, onClose }: { sought: Sought; onClose: () => void }) {
  const { t } = useTranslation("letters");
  const { message } = App.useApp();
  const [limit, setLimit] = useState(1000);
  const queries = useQueryClient();
  const { job, tag, error_code } = sought;
  const waiting = useQuery({
    queryKey: ["letters", "waiting", job, tag, error_code],
    queryFn: ({ signal }) =>
      getDeadLetters({ job, tag, error_code, status: "NEW", limit: COUNTED }, { signal }),
    staleTime: 0,
  });
  const which = [job, error_code, tag && t("transient")].filter(Boolean).join(" · ") || t("many.all");
  return (
    <Confirm
      title={t("many.title")}
      verb={t("many.verb")}
      effect={[
        t("many.which", { which }),
        counted(waiting.data, t),
        t("many.order", { limit }),
        t("replay.same"),
        t("many.budget"),
      ]}
      act={async () => {
        const done = await postDeadLettersReplay({ job, tag, error_code, limit });
        await queries.invalidateQueries();
        message.info(t("many.done", { sent: done.sent, refused: done.refused }));
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
            onChange={(told) => setLimit(told ?? 1)}
          />
        )}
      </Field>
    </Confirm>
  );
}

function counted(
  page: { items: unknown[]; next?: string | null } | undefined,
  t: ReturnType<typeof useTranslation<"letters">>["t"],
): string {
  if (!page) return t("many.counting");
  return page.next
    ? t("many.moreThan", { count: page.items.length })
    : t("many.count", { count: page.items.length });
}
