import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { getDeadLetters } from "../../api/generated/client";
import type { LetterView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Moment } from "../../parts/Moment";
import { Page } from "../../parts/Page";
import type { Column } from "../../parts/Rows";
import { StateTag } from "../../parts/StateTag";
import { JobLink, KeyLink } from "../instances/columns";
import { Word } from "../instances/Filters";
import { Acts } from "./Acts";
import { ReplayMany } from "./ReplayMany";
import { CODES, type Sought, STATUSES, TRANSIENT } from "./sought";

const route = getRouteApi("/letters");
const REFRESH = 5_000;

/** What was given up, and the way to send it again. */
export function LettersPage() {
  const { t } = useTranslation("letters");
  const sought = route.useSearch();
  const navigate = route.useNavigate();
  const [many, setMany] = useState(false);
  const asked = useQuery({
    queryKey: ["letters", sought],
    queryFn: ({ signal }) => getDeadLetters(sought, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: sought.cursor ? false : REFRESH,
  });
  const filtered = Boolean(sought.job || sought.tag || sought.error_code || sought.status);
  return (
    <Page
      title={t("title")}
      acts={
        <Act action="dead_letters.replay_many" onClick={() => setMany(true)}>
          {t("many.open")}
        </Act>
      }
    >
      <Filters sought={sought} onChange={(search) => void navigate({ search })} />
      <Found<LetterView>
        asked={asked}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.instance_id}
        cursor={sought.cursor}
        go={(cursor) => void navigate({ search: { ...sought, cursor } })}
        empty={
          filtered ? (
            <p className="soft">{t("none")}</p>
          ) : (
            <Empty title={t("empty.title")} help={t("empty.help")} />
          )
        }
      />
      {many && <ReplayMany sought={sought} onClose={() => setMany(false)} />}
    </Page>
  );
}

function Filters({ sought, onChange }: { sought: Sought; onChange: (next: Sought) => void }) {
  const { t } = useTranslation(["letters", "states"]);
  const change = (part: Partial<Sought>) => onChange({ ...sought, ...part, cursor: undefined });
  return (
    <search className="filters">
      <Word label={t("columns.job")} value={sought.job} onSend={(job) => change({ job })} />
      <Select
        aria-label={t("columns.code")}
        placeholder={t("columns.code")}
        className="short"
        allowClear
        showSearch
        value={sought.error_code}
        options={CODES.map((value) => ({ value, label: value }))}
        onChange={(error_code) => change({ error_code })}
      />
      <Select
        aria-label={t("tag")}
        placeholder={t("tag")}
        className="short"
        allowClear
        value={sought.tag}
        options={[{ value: TRANSIENT, label: t("transient") }]}
        onChange={(tag) => change({ tag })}
      />
      <Select
        aria-label={t("columns.status")}
        placeholder={t("columns.status")}
        className="short"
        allowClear
        value={sought.status}
        options={STATUSES.map((value) => ({ value, label: t(`states:${value}`) }))}
        onChange={(status) => change({ status })}
      />
    </search>
  );
}

function useColumns(): Column<LetterView>[] {
  const { t } = useTranslation("letters");
  return [
    {
      title: t("columns.given"),
      kind: "tight",
      show: (one) => (
        <Link to="/instances/$instance" params={{ instance: one.instance_id }}>
          <Moment at={one.created_at} />
        </Link>
      ),
    },
    { title: t("columns.job"), show: (one) => <JobLink one={one} /> },
    { title: t("columns.key"), show: (one) => <KeyLink one={one} /> },
    {
      title: t("columns.code"),
      show: (one) => (
        <span className="fault">
          <code>{one.error_code}</code> {one.error_msg}
        </span>
      ),
    },
    { title: t("tag"), kind: "tight", show: (one) => one.tag && t("transient") },
    { title: t("columns.status"), kind: "tight", show: (one) => <Status one={one} /> },
    { title: t("columns.acts"), kind: "tight", show: (one) => <Acts one={one} /> },
  ];
}

function Status({ one }: { one: LetterView }) {
  const { t } = useTranslation("letters");
  return (
    <>
      <StateTag state={one.replay_status} />{" "}
      {one.replay_id && (
        <Link to="/instances/$instance" params={{ instance: one.replay_id }}>
          {t("replayed")}
        </Link>
      )}
    </>
  );
}
