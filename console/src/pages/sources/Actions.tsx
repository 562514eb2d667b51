import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { App } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { withIdempotencyKey } from "../../api/call";
import {
  deleteSourcesTypeName,
  postSourcesTypeNamePause,
  postSourcesTypeNameResume,
  postSourcesTypeNameRounds,
} from "../../api/generated/client";
import type { SourceView } from "../../api/generated/models";
import { ActionButton } from "../../parts/ActionButton";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { PauseButton } from "../../parts/PauseButton";
import { useIdempotencyKey } from "../../parts/useIdempotencyKey";
import { SourceDialog } from "./SourceDialog";

/** The actions of a source. A dry run changes nothing and needs no confirmation; `onDry` receives its number. */
export function Actions({ source, onDry }: { source: SourceView; onDry: (round: number) => void }) {
  const { t } = useTranslation("sources");
  const { message } = App.useApp();
  const [open, setOpen] = useState<"run" | "edit" | "remove" | null>(null);
  const [busy, setBusy] = useState(false);
  const queries = useQueryClient();
  const close = () => setOpen(null);
  const isPush = (source.spec.origin as { kind: string }).kind === "push";
  const runDry = async () => {
    setBusy(true);
    try {
      const accepted = await postSourcesTypeNameRounds(
        source.type,
        { dry: true },
        withIdempotencyKey(crypto.randomUUID()),
      );
      onDry(accepted.round + 1);
      await queries.invalidateQueries({ queryKey: ["source", source.type] });
    } catch (error) {
      message.error((error as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {!isPush && (
        <>
          <ActionButton action="sources.run" type="primary" loading={busy} onClick={runDry}>
            {t("action.dry")}
          </ActionButton>
          {!source.paused_at && (
            <ActionButton action="sources.run" onClick={() => setOpen("run")}>
              {t("action.run")}
            </ActionButton>
          )}
        </>
      )}
      <PauseButton
        resource="sources"
        paused={source.paused_at !== null}
        texts={(verb) => ({
          title: t(`${verb}.title`, { type: source.type }),
          effect: [t(`${verb}.first`), t(`${verb}.second`)],
        })}
        onConfirm={(verb) =>
          verb === "pause" ? postSourcesTypeNamePause(source.type) : postSourcesTypeNameResume(source.type)
        }
      />
      <ActionButton action="sources.put" onClick={() => setOpen("edit")}>
        {t("action.edit")}
      </ActionButton>
      <ActionButton action="sources.remove" danger onClick={() => setOpen("remove")}>
        {t("action.remove")}
      </ActionButton>
      {open === "run" && <RunDialog source={source} onClose={close} />}
      {open === "edit" && <SourceDialog base={source} onClose={close} />}
      {open === "remove" && <RemoveDialog source={source} onClose={close} />}
    </>
  );
}

interface DialogProps {
  source: SourceView;
  onClose: () => void;
}

function RunDialog({ source, onClose }: DialogProps) {
  const { t } = useTranslation("sources");
  const key = useIdempotencyKey();
  const queries = useQueryClient();
  return (
    <ConfirmDialog
      title={t("run.title", { type: source.type })}
      verb={t("action.run")}
      effect={[
        t("run.now"),
        t("put.repairs"),
        source.spec.orphans === "cancel"
          ? t("put.cancels", { count: Number(source.spec.most_cancelled ?? 1000) })
          : t("put.keeps"),
        t("run.audited"),
      ]}
      onConfirm={async () => {
        await postSourcesTypeNameRounds(source.type, { dry: false }, withIdempotencyKey(key));
        await queries.invalidateQueries({ queryKey: ["source", source.type] });
      }}
      onClose={onClose}
    />
  );
}

function RemoveDialog({ source, onClose }: DialogProps) {
  const { t } = useTranslation("sources");
  const queries = useQueryClient();
  const navigate = useNavigate();
  return (
    <ConfirmDialog
      title={t("remove.title", { type: source.type })}
      verb={t("action.remove")}
      danger
      effect={[t("remove.never"), t("remove.stay")]}
      onConfirm={async () => {
        await deleteSourcesTypeName(source.type);
        await navigate({ to: "/sources" });
        await queries.invalidateQueries({ queryKey: ["sources"] });
      }}
      onClose={onClose}
    />
  );
}
