import { useEffect, useState } from "react";
import { openStream } from "../../api/call";
import { isTransient } from "../../api/errors";
import { readEvents } from "../../api/event-stream";
import { getGetInstanceLogsTailUrl } from "../../api/generated/client";
import { addEvents, type LogLines, NO_LINES } from "./log-lines";

const REOPEN_MS = 1_000;
const RETRY_MS = 5_000;

/** The log of an instance, read by one stream while the page is open and its tab is visible. */
export function useLogTail(instance: string, retries: number): { log: LogLines; error: unknown } {
  const [log, setLog] = useState(NO_LINES);
  const [error, setError] = useState<unknown>(null);
  const isVisible = useVisibility();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try opens the stream again
  useEffect(() => {
    if (!isVisible) return;
    const leaving = new AbortController();
    setLog(NO_LINES);
    setError(null);
    void follow(instance, leaving.signal, (change) => setLog(change), setError);
    return () => leaving.abort();
  }, [instance, isVisible, retries]);
  return { log, error };
}

/** Reads the stream, and opens it again where it ends before the instance does, until the page is left. */
async function follow(
  instance: string,
  leaving: AbortSignal,
  onChange: (change: (log: LogLines) => LogLines) => void,
  onError: (error: unknown) => void,
): Promise<void> {
  let last: string | null = null;
  while (!leaving.aborted) {
    let wait = REOPEN_MS;
    try {
      const headers: HeadersInit = last ? { "Last-Event-ID": last } : {};
      const response = await openStream(getGetInstanceLogsTailUrl(instance), { headers, signal: leaving });
      onError(null);
      for await (const events of readEvents(response)) {
        if (leaving.aborted) return;
        last = events.findLast((event) => event.id !== null)?.id ?? last;
        onChange((log) => addEvents(log, events));
        if (events.some((event) => event.name === "end")) return;
      }
    } catch (error) {
      if (leaving.aborted) return;
      onError(error);
      if (!isTransient(error) && !(error instanceof TypeError)) return; // a broken connection is a TypeError
      wait = RETRY_MS;
    }
    await pause(wait, leaving);
  }
}

function pause(ms: number, leaving: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    leaving.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/** Whether the tab is visible: a hidden one holds no stream, because browsers open few connections to one server. */
function useVisibility(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const change = () => setVisible(!document.hidden);
    document.addEventListener("visibilitychange", change);
    return () => document.removeEventListener("visibilitychange", change);
  }, []);
  return isVisible;
}
