import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { TaskView } from "../../api/generated/models";
import { Fact } from "../../parts/Fact";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";

/** The live instance of a key, or the outcome of its last one. */
export function TaskState({ one }: { one: TaskView }) {
  const { t } = useTranslation("tasks");
  const live = one.live;
  return (
    <dl className="facts">
      <Fact name={t("state")}>
        <StateTag state={live?.state ?? one.outcome ?? "INIT"} />{" "}
        {!live && <span className="soft">{t("nothingLive")}</span>}
      </Fact>
      {live && (
        <>
          <Fact name={t("at")}>
            <Timestamp at={live.at} />{" "}
            <span className="soft">
              (<Timestamp at={live.at} relative />)
            </span>
          </Fact>
          {live.due_at !== live.at && (
            <Fact name={t("due")}>
              <Timestamp at={live.due_at} />
            </Fact>
          )}
          <Fact name={t("attempts")}>{live.attempt}</Fact>
          {live.error && <Fact name={t("error")}>{live.error}</Fact>}
        </>
      )}
      <Fact name={t("generation")}>{one.generation}</Fact>
      {one.version !== null && one.version !== undefined && (
        <Fact name={t("version")}>{String(one.version)}</Fact>
      )}
      <Fact name={t("instance")}>
        <Link to="/instances/$instance" params={{ instance: live?.instance_id ?? one.instance_id }}>
          <code>{live?.instance_id ?? one.instance_id}</code>
        </Link>
      </Fact>
    </dl>
  );
}
