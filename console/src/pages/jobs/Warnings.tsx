import { useTranslation } from "react-i18next";
import type { JobView } from "../../api/generated/models";

/** What will go wrong with a job, if anything: the server's own sentences below one in the reader's language. */
export function Warnings({ job }: { job: JobView }) {
  const { t } = useTranslation("jobs");
  if (!job.warnings?.length) return null;
  return (
    <div className="banner tone-warn" role="alert">
      <strong>{t("warnings.title")}</strong>
      {job.warnings.map((one) => (
        <p key={one} className="warning">
          {one}
        </p>
      ))}
    </div>
  );
}
