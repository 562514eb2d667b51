import { Modal } from "antd";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { ErrorMessage } from "../ErrorMessage";
import { exportedText, type Format, MAX_ROWS, type ReadPage } from "./export";

/** Reads all pages of a list, shows how many rows there are, and saves them as a file. */
export function ExportDialog({ list, format, read, onClose }: ExportDialogProps) {
  const { t } = useTranslation(["lists", "frame"]);
  const [rows, setRows] = useState(0);
  const [isDone, setDone] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const latest = useRef(read);
  useEffect(() => {
    const stop = new AbortController();
    saveAs(
      `horae-${list}.${format}`,
      format,
      exportedText(latest.current, format, stop.signal, setRows),
      stop.signal,
    )
      .then(() => setDone(true))
      .catch((caught) => !stop.signal.aborted && setError(caught));
    return () => stop.abort();
  }, [list, format]);
  return (
    <Modal
      open
      title={t("export.title", { format: format.toUpperCase() })}
      footer={null}
      onCancel={onClose}
      destroyOnHidden
    >
      <p role="status">{t(isDone ? "export.done" : "export.running", { rows: rows.toLocaleString("en") })}</p>
      <p className="soft">{t("export.bound", { most: MAX_ROWS.toLocaleString("en") })}</p>
      {error !== null && <ErrorMessage error={error} />}
    </Modal>
  );
}

async function saveAs(name: string, format: Format, text: AsyncIterable<string>, signal: AbortSignal) {
  const parts: Blob[] = [];
  for await (const part of text) parts.push(new Blob([part]));
  if (signal.aborted) return;
  const type = format === "csv" ? "text/csv;charset=utf-8" : "application/json";
  const address = URL.createObjectURL(new Blob(format === "csv" ? ["\ufeff", ...parts] : parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

interface ExportDialogProps {
  list: string;
  format: Format;
  read: ReadPage;
  onClose: () => void;
}
