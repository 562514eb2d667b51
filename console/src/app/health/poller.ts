import { getSchedulerHealth } from "../../api/generated/client";
import { backOffMs, type HealthState, INITIAL_STATE, recordAnswer, recordFailure } from "./state";

/** Polls the health while a component is subscribed and the tab is visible. The page has one poller. */
let state: HealthState = INITIAL_STATE;
let timer: ReturnType<typeof setTimeout> | undefined;
let request: AbortController | null = null;
const listeners = new Set<() => void>();

export const currentState = (): HealthState => state;

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop();
  };
}

function start(): void {
  document.addEventListener("visibilitychange", onVisibilityChange);
  void poll();
}

function stop(): void {
  document.removeEventListener("visibilitychange", onVisibilityChange);
  clearTimeout(timer);
  request?.abort();
  request = null;
  state = INITIAL_STATE; // the next subscriber may be another user, in another tenant
}

function onVisibilityChange(): void {
  clearTimeout(timer);
  if (!document.hidden && !request) void poll();
}

async function poll(): Promise<void> {
  const started = new AbortController();
  request = started;
  const next = await fetchHealth(started.signal);
  if (request !== started) return; // the last subscriber left during the request
  request = null;
  state = next;
  for (const notify of listeners) notify();
  if (!document.hidden) timer = setTimeout(poll, backOffMs(state));
}

async function fetchHealth(signal: AbortSignal): Promise<HealthState> {
  try {
    return recordAnswer(
      await getSchedulerHealth({ signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) }),
      Date.now(),
    );
  } catch (error) {
    return recordFailure(state, error instanceof Error ? error.message : String(error));
  }
}
