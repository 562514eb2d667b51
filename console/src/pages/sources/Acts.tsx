import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { once } from "../../api/call";
import {
  deleteSourcesTypeName,
  postSourcesTypeNamePause,
  postSourcesTypeNameResume,
  postSourcesTypeNameRounds,
} from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { Act } from "../../parts/Act";
import { Confirm } from "../../parts/Confirm";
import { Pausing } from "../../parts/Pausing";
import { useOneKey } from "../../parts/useOneKey";
import { Put } from "./Put";

/** What may be done with a source. A dry run changes nothing, so it is not asked about; `onDry` is told its number. */
export function Acts({ source, onDry }: { source: SourceView; onDry: (round: number) => void }) {
  const { t } = useTranslation("sources");
  const { message } = App.useApp();
  const [open, setOpen] = useState<"run" | "edit" | "remove" | null>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const close = () => setOpen(null);
  const pushed = (source.spec.origin as { kind: string }).kind === "push";
  const dry = async () => {
    setBusy(true);
    try {
      const asked = await postSourcesTypeNameRounds(source.type, { dry: true }, once(crypto.randomUUID()));
      onDry(asked.round + 1);
      await queries.invalidateQueries({ queryKey: ["source", source.type] });
    } catch (error) {
      message.error((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {!pushed && (
        <>
          <Act action="sources.run" type="primary" loading={busy} onClick={dry}>
            {t("act.dry")}
          </Act>
          {!source.paused_at && (
            <Act action="sources.run" onClick={() => setOpen("run")}>
              {t("act.run")}
            </Act>
          )}
        </>
      )}
      <Pausing
        of="sources"
        paused={source.paused_at !== null}
        says={(verb) => ({
          title: t(`${verb}.title`, { type: source.type }),
          effect: [t(`${verb}.first`), t(`${verb}.second`)],
        })}
        act={(verb) =>
          verb === "pause" ? postSourcesTypeNamePause(source.type) : postSourcesTypeNameResume(source.type)
        }
      />
      <Act action="sources.put" onClick={() => setOpen("edit")}>
        {t("act.edit")}
      </Act>
      <Act action="sources.remove" danger onClick={() => setOpen("remove")}>
        {t("act.remove")}
      </Act>
      {open === "run" && <Run source={source} onClose={close} />}
      {open === "edit" && <Put base={source} onClose={close} />}
      {open === "remove" && <Remove source={source} onClose={close} />}
    </>
  );
}

interface Dialog {
  source: SourceView;
  onClose: () => void;
}

function Run({ source, onClose }: Dialog) {
  const { t } = useTranslation("sources");
  const key = useOneKey();
  const queries = useQueryClient();
  return (
    <Confirm
      title={t("run.title", { type: source.type })}
      verb={t("act.run")}
      effect={[
        t("run.now"),
        t("put.repairs"),
        source.spec.orphans === "cancel"
          ? t("put.cancels", { count: Number(source.spec.most_cancelled ?? 1000) })
          : t("put.keeps"),
        t("run.audited"),
      ]}
      act={async () => {
        await postSourcesTypeNameRounds(source.type, { dry: false }, once(key));
        await queries.invalidateQueries({ queryKey: ["source", source.type] });
      }}
      onClose={onClose}
    />
  );
}

function Remove({ source, onClose }: Dialog) {
  const { t } = useTranslation("sources");
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <Confirm
      title={t("remove.title", { type: source.type })}
      verb={t("act.remove")}
      danger
      effect={[t("remove.never"), t("remove.stay")]}
      act={async () => {
        await deleteSourcesTypeName(source.type);
        await navigate({ to: "/sources" });
        await queries.invalidateQueries({ queryKey: ["sources"] });
      }}
      onClose={onClose}
    />
  );
}
