import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { DeadLetterView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { KeyLink } from "../../parts/instance-links";
import { Json } from "../../parts/Json";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { Actions } from "./Actions";
import { Tags } from "./Tags";

/** The newest dead letters of a cause, with their whole messages and payloads. */
export function Samples({ samples }: { samples: DeadLetterView[] }) {
  const { t } = useTranslation(["triage", "deadLetters"]);
  const columns: Column<DeadLetterView>[] = [
    {
      title: t("deadLetters:columns.failedAt"),
      kind: "tight",
      show: (one) => (
        <Link to="/instances/$instance" params={{ instance: one.instance_id }}>
          <Timestamp at={one.created_at} />
        </Link>
      ),
    },
    { title: t("deadLetters:columns.key"), show: (one) => <KeyLink one={one} /> },
    { title: t("samples.message"), show: (one) => one.error_msg },
    { title: t("samples.payload"), show: (one) => <Payload one={one} /> },
    { title: t("tags.title"), show: (one) => <Tags one={one} /> },
    {
      title: t("deadLetters:columns.status"),
      kind: "tight",
      show: (one) => <StateTag state={one.replay_status} />,
    },
    { title: t("deadLetters:columns.actions"), kind: "tight", show: (one) => <Actions one={one} /> },
  ];
  return (
    <DataTable
      caption={t("samples.title")}
      columns={columns}
      items={samples}
      id={(one) => one.instance_id}
      empty={<p className="soft">{t("samples.none")}</p>}
    />
  );
}

function Payload({ one }: { one: DeadLetterView }) {
  const { t } = useTranslation("triage");
  if (one.payload === null || one.payload === undefined) return <span className="soft">–</span>;
  return (
    <details>
      <summary>{t("samples.show")}</summary>
      <Json value={one.payload} label={t("samples.payload")} />
    </details>
  );
}
