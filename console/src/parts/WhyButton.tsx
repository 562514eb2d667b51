import { useQuery } from "@tanstack/react-query";
import { Button, Input, Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import type { ExplanationView, Language } from "../api/generated/models";
import { DecidingRowLink } from "./DecidingRowLink";
import { ErrorMessage } from "./ErrorMessage";
import { Loading } from "./Loading";
import "./parts.css";

export interface WhyQuestion {
  lang: Language;
  at?: string;
}
type Ask = (question: WhyQuestion, signal: AbortSignal) => Promise<ExplanationView>;

/** Opens the explanation of what a page shows: sentences, each with links to the rows that decided. */
export function WhyButton({ id, ask, fires }: { id: string; ask: Ask; fires?: boolean }) {
  const { t } = useTranslation("frame");
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("why.verb")}</Button>
      {open && <WhyDialog id={id} ask={ask} fires={fires === true} onClose={() => setOpen(false)} />}
    </>
  );
}

function WhyDialog({
  id,
  ask,
  fires,
  onClose,
}: {
  id: string;
  ask: Ask;
  fires: boolean;
  onClose: () => void;
}) {
  const { t, i18n } = useTranslation("frame");
  const [at, setAt] = useState("");
  const lang: Language = i18n.language.startsWith("zh") ? "zh" : "en";
  const query = useQuery({
    queryKey: ["why", id, lang, at],
    queryFn: ({ signal }) => ask(at ? { lang, at } : { lang }, signal),
    staleTime: 0,
    retry: false,
  });
  return (
    <Modal open title={t("why.title", { id })} footer={null} onCancel={onClose} width={720} destroyOnHidden>
      {fires && (
        <Input.Search
          aria-label={t("why.at")}
          placeholder={t("why.hint")}
          enterButton={t("why.explain")}
          maxLength={40}
          onSearch={(text) => setAt(text.trim())}
        />
      )}
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {query.isFetching && !query.data && <Loading />}
      {query.data && !query.error && (
        <ol className="why">
          {query.data.findings.map((one) => (
            <li key={`${one.code} ${one.sentence}`} data-code={one.code}>
              {one.sentence}
              <span className="why-rows">
                {one.rows.map((row) => (
                  <DecidingRowLink key={`${row.kind} ${row.ref}`} row={row} onOpen={onClose} />
                ))}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Modal>
  );
}
