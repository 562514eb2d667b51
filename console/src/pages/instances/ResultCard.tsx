import { useQuery } from "@tanstack/react-query";
import { useTranslation } from "react-i18next";
import { findResult } from "../../api/find-result";
import type { InstanceDetail } from "../../api/generated/models";
import { useIsPermitted } from "../../app/permissions";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Json } from "../../parts/Json";
import { Loading } from "../../parts/Loading";
import { Card } from "../../parts/Page";
import { isLive } from "./filters";

/** What a run returned. It is read when the instance has ended. */
export function ResultCard({ one }: { one: InstanceDetail }) {
  const { t } = useTranslation("logs");
  const permitted = useIsPermitted("payloads.read");
  return (
    <Card title={t("result.title")} id="result">
      {!permitted ? (
        <p className="soft">{t("result.notPermitted")}</p>
      ) : isLive(one.state) ? (
        <p className="soft">{t("result.later")}</p>
      ) : (
        <Result instance={one.id} />
      )}
    </Card>
  );
}

function Result({ instance }: { instance: string }) {
  const { t } = useTranslation("logs");
  const query = useQuery({
    queryKey: ["instance", instance, "result"],
    queryFn: ({ signal }) => findResult(instance, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.error) return <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  if (query.data.missing) return <p className="soft">{t(`result.${query.data.missing}`)}</p>;
  return <Json value={query.data.value} label={t("result.title")} />;
}
