import { getSchedulerHealth } from "../../api/generated/client";
import { answered, backOff, FIRST, failed, type Watch } from "./machine";

/** Polls for as long as someone listens and the tab is visible; one poller for the whole page. */
let watch: Watch = FIRST;
let timer: ReturnType<typeof setTimeout> | undefined;
let asking: AbortController | null = null;
const listeners = new Set<() => void>();

export const current = (): Watch => watch;

export function listen(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop();
  };
}

function start(): void {
  document.addEventListener("visibilitychange", seen);
  void poll();
}

function stop(): void {
  document.removeEventListener("visibilitychange", seen);
  clearTimeout(timer);
  asking?.abort();
  asking = null;
  watch = FIRST; // the next one who listens may be someone else, in another tenant
}

function seen(): void {
  clearTimeout(timer);
  if (!document.hidden && !asking) void poll();
}

async function poll(): Promise<void> {
  const mine = new AbortController();
  asking = mine;
  const next = await look(mine.signal);
  if (asking !== mine) return; // everyone left meanwhile
  asking = null;
  watch = next;
  for (const tell of listeners) tell();
  if (!document.hidden) timer = setTimeout(poll, backOff(watch));
}

async function look(signal: AbortSignal): Promise<Watch> {
  try {
    return answered(
      watch,
      await getSchedulerHealth({ signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) }),
      Date.now(),
    );
  } catch (error) {
    return failed(watch, error instanceof Error ? error.message : String(error));
  }
}
