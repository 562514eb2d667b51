import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Progress } from "antd";
import { useTranslation } from "react-i18next";
import {
  getBackfillGroupsGroup,
  postBackfillGroupsGroupCancel,
  postBackfillGroupsGroupPause,
  postBackfillGroupsGroupResume,
} from "../../api/generated/client";
import type { BackfillGroupView, BackfillProgressView, BackfillView } from "../../api/generated/models";
import { type Column, DataTable } from "../../parts/DataTable";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { JobLink } from "../../parts/instance-links";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { StateTag } from "../../parts/StateTag";
import { BackfillActions } from "./BackfillActions";
import { Estimate } from "./Estimate";

const route = getRouteApi("/backfill-groups/$group");
const REFRESH_MS = 5_000;
const CHANGES = {
  pause: postBackfillGroupsGroupPause,
  resume: postBackfillGroupsGroupResume,
  cancel: postBackfillGroupsGroupCancel,
};

/** A backfill group: one progress of all, and its parts. */
export function GroupPage() {
  const { t } = useTranslation("backfills");
  const { group } = route.useParams();
  const query = useQuery({
    queryKey: ["backfill-group", group],
    queryFn: ({ signal }) => getBackfillGroupsGroup(group, { signal }),
    refetchInterval: (query) => (query.state.data && isOver(query.state.data) ? false : REFRESH_MS),
  });
  const one = query.data;
  return (
    <Page
      title={t("group.title")}
      mark={one && <StateTag state={one.status} />}
      actions={
        one && (
          <BackfillActions
            status={one.status}
            resource="backfill_groups"
            onChange={(change) => CHANGES[change](group)}
          />
        )
      }
    >
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {!one && !query.error && <Loading />}
      {one && <GroupDetail one={one} />}
    </Page>
  );
}

/** Whether nothing changes any more: all fires are decided, and all instances have ended. */
const isOver = (one: BackfillGroupView): boolean =>
  one.status === "CANCELLED" || (one.status === "DONE" && one.progress.done >= one.progress.total);

function GroupDetail({ one }: { one: BackfillGroupView }) {
  const { t } = useTranslation("backfills");
  const columns: Column<BackfillView>[] = [
    { title: t("group.job"), show: (part) => <JobLink one={part} /> },
    { title: t("group.status"), kind: "tight", show: (part) => <StateTag state={part.status} /> },
    { title: t("group.fires"), kind: "number", show: (part) => part.planned.toLocaleString() },
    { title: t("group.created"), kind: "number", show: (part) => part.born.toLocaleString() },
    { title: t("group.skipped"), kind: "number", show: (part) => part.already.toLocaleString() },
    {
      title: t("group.progress"),
      show: (part) => part.progress && <Estimate progress={part.progress} status={part.status} />,
    },
  ];
  return (
    <>
      <Card title={t("group.progress")}>
        <Progress percent={percentOf(one.progress)} aria-label={t("group.progress")} />
        <Estimate progress={one.progress} status={one.status} />
      </Card>
      <Card title={t("group.parts")}>
        <DataTable caption={t("group.parts")} columns={columns} items={one.parts} id={(part) => part.id} />
      </Card>
    </>
  );
}

const percentOf = (progress: BackfillProgressView): number =>
  progress.total === 0 ? 100 : Math.floor((100 * progress.done) / progress.total);
