import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import type { PacedReplayView } from "../../api/generated/models";
import { JobLinkById } from "../../parts/instance-links";

/** Which dead letters a paced replay selects. */
export function ReplayFilter({ replay }: { replay: PacedReplayView }) {
  const { t } = useTranslation("triage");
  return (
    <span className="tags">
      {replay.cause && (
        <Link to="/dead-letters/causes/$cause" params={{ cause: replay.cause }}>
          {t("causes.one")}
        </Link>
      )}
      {replay.job_id && <JobLinkById id={replay.job_id} />}
      {replay.error_code && <code>{replay.error_code}</code>}
      {replay.tag && <span className="tag">{replay.tag}</span>}
    </span>
  );
}
