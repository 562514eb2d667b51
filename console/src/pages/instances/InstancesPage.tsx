import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";
import { getInstances, getJobInstances } from "../../api/generated/client";
import type { InstanceView } from "../../api/generated/models";
import { Empty } from "../../parts/Empty";
import { Found } from "../../parts/Found";
import { Page } from "../../parts/Page";
import { useColumns } from "./columns";
import { Filters } from "./Filters";
import type { Sought } from "./sought";

const route = getRouteApi("/instances");
const REFRESH = 5_000;

/** Every fire of every job, live and ended behind one list. */
export function InstancesPage() {
  const { t } = useTranslation("instances");
  const sought = route.useSearch();
  const navigate = route.useNavigate();
  const asked = useInstances(sought);
  const filtered = Object.entries(sought).some(([name, value]) => name !== "cursor" && value !== undefined);
  const more = asked.data?.next;
  return (
    <Page title={t("title")}>
      <Filters sought={sought} onChange={(next) => void navigate({ search: next })} />
      <Found<InstanceView>
        asked={asked}
        caption={t("title")}
        columns={useColumns()}
        id={(one) => one.id}
        cursor={sought.cursor}
        go={(cursor) => void navigate({ search: { ...sought, cursor } })}
        empty={
          filtered || more ? (
            <p className="soft">{more ? t("further") : t("none")}</p>
          ) : (
            <Empty title={t("empty.title")} help={t("empty.help")} line="horae job trigger coupon_job" />
          )
        }
      />
    </Page>
  );
}

/** A page of them; the first is looked at again and again, the others stay as they were. */
export function useInstances(sought: Sought, limit?: number) {
  const { job, ...rest } = sought;
  return useQuery({
    queryKey: ["instances", sought, limit],
    queryFn: ({ signal }) =>
      job
        ? getJobInstances(job, { ...rest, limit }, { signal })
        : getInstances({ ...rest, limit }, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: sought.cursor ? false : REFRESH,
  });
}
