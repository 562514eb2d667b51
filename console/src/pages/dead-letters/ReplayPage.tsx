import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import { getPacedReplaysReplay, postPacedReplaysReplayStop } from "../../api/generated/client";
import type { PacedReplayView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { ErrorMessage } from "../../parts/ErrorMessage";
import { Fact } from "../../parts/Fact";
import { Figure } from "../../parts/Figure";
import { Loading } from "../../parts/Loading";
import { Card, Page } from "../../parts/Page";
import { Principal } from "../../parts/Principal";
import { StateTag } from "../../parts/StateTag";
import { Timestamp } from "../../parts/Timestamp";
import { secondsText } from "../../parts/times";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { ReplayFilter } from "./ReplayFilter";
import { isUnderWay, PARTS, partsOf, secondsLeft, TONES } from "./replay-progress";
import { useReasonText } from "./useReasonText";
import { Views } from "./Views";

const route = getRouteApi("/dead-letters/replays/$replay");
const REFRESH_MS = 2_000;

/** One paced replay: its progress, what it waits for, and the button that stops it. */
export function ReplayPage() {
  const { t } = useTranslation("triage");
  const { replay } = route.useParams();
  const query = useQuery({
    queryKey: ["paced-replays", "one", replay],
    queryFn: ({ signal }) => getPacedReplaysReplay(replay, { signal }),
    refetchInterval: (query) => (query.state.data && !isUnderWay(query.state.data) ? false : REFRESH_MS),
  });
  const one = query.data;
  return (
    <Page
      title={t("replay.one")}
      mark={one && <StateTag state={one.status} />}
      actions={one && isUnderWay(one) && <StopButton replay={one} />}
    >
      <Views view="replays" />
      {query.error && <ErrorMessage error={query.error} onRetry={() => void query.refetch()} />}
      {!one && !query.error && <Loading />}
      {one && <ReplayDetail one={one} />}
    </Page>
  );
}

function ReplayDetail({ one }: { one: PacedReplayView }) {
  const { t } = useTranslation("triage");
  return (
    <>
      <Card title={t("replay.progress")}>
        <p className="sentence">{useStatusText(one)}</p>
        <Bar one={one} />
        <dl className="figures">
          <Figure name={t("replay.count.sent")}>
            {one.sent.toLocaleString()} / {one.limit.toLocaleString()}
          </Figure>
          {PARTS.map((part) => (
            <Figure
              key={part}
              name={t(`replay.count.${part}`)}
              tone={one[part] > 0 ? TONES[part] : undefined}
            >
              {one[part].toLocaleString()}
            </Figure>
          ))}
        </dl>
      </Card>
      <Card title={t("replay.settings")}>
        <dl className="facts">
          <Fact name={t("replay.filter")}>
            <ReplayFilter replay={one} />
          </Fact>
          <Fact name={t("replay.pace")}>{one.pace}</Fact>
          <Fact name={t("replay.canary")}>{one.canary}</Fact>
          <Fact name={t("replay.maxFailures")}>{one.max_failures ?? "–"}</Fact>
          <Fact name={t("replay.by")}>
            <Principal id={one.created_by} />
          </Fact>
          <Fact name={t("replay.startedAt")}>
            <Timestamp at={one.created_at} />
          </Fact>
          {one.ended_at && (
            <Fact name={t("replay.endedAt")}>
              <Timestamp at={one.ended_at} />
            </Fact>
          )}
        </dl>
      </Card>
    </>
  );
}

function Bar({ one }: { one: PacedReplayView }) {
  return (
    <div className="replay-bar" aria-hidden>
      {partsOf(one).map(({ part, share }) => (
        <span key={part} className={`tone-${TONES[part]}`} style={{ width: `${share * 100}%` }} />
      ))}
    </div>
  );
}

function useStatusText(one: PacedReplayView): string {
  const { t } = useTranslation("triage");
  const reasonText = useReasonText();
  if (!isUnderWay(one))
    return t(one.status === "STOPPED" ? "replay.stopped" : "replay.completed", {
      reason: reasonText(one.ended_because),
    });
  if (one.status === "CANARY") return t("replay.inCanary", { canary: one.canary });
  if (one.waits_for) return t("replay.waits", { reason: reasonText(one.waits_for) });
  return t("replay.running", { length: secondsText(Math.ceil(secondsLeft(one) ?? 0)) });
}

function StopButton({ replay }: { replay: PacedReplayView }) {
  const { t } = useTranslation("triage");
  const [open, setOpen] = useState(false);
  const queries = useQueryClient();
  const key = useIdempotencyKey();
  return (
    <>
      <ActionButton action="paced_replays.stop" danger onClick={() => setOpen(true)}>
        {t("replay.stop")}
      </ActionButton>
      {open && (
        <ConfirmDialog
          title={t("replay.stopTitle")}
          verb={t("replay.stop")}
          danger
          effect={[t("replay.stopNoMore"), t("replay.stopGoOn"), t("replay.stopFinal")]}
          onConfirm={async () => {
            await postPacedReplaysReplayStop(replay.id, withIdempotencyKey(key));
            await queries.invalidateQueries({ queryKey: ["paced-replays"] });
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
