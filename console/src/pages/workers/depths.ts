import type { QueueView } from "../../api/generated/models";

/** Splits a `User-Agent` into the client with its version and what it runs on. */
export function clientOf(text: string | null | undefined): { name: string; version: string; runs: string } {
  const [first = "", ...runs] = (text ?? "").split(" ");
  const [name = "", version = ""] = first.split("/");
  return { name, version, runs: runs.join(" ") };
}

/** The number of waiting instances of a queue, when it was read. */
export interface DepthSample {
  at: number;
  waiting: number;
}

const KEPT_MS = 120_000;

/** Adds a sample, and drops those older than two minutes. */
export function addSample(samples: DepthSample[], sample: DepthSample): DepthSample[] {
  return [...samples.filter((one) => sample.at - one.at <= KEPT_MS && one.at < sample.at), sample];
}

/** By how much a queue grows in a minute, by the samples of this page; null before ten seconds are known. */
export function growthPerMinute(samples: DepthSample[]): number | null {
  const first = samples[0];
  const last = samples.at(-1);
  if (!first || !last || last.at - first.at < 9_000) return null;
  return Math.round(((last.waiting - first.waiting) * 60_000) / (last.at - first.at));
}

export interface QueueTotals {
  queues: number;
  waiting: number;
  more: boolean;
  unattended: QueueView[];
}

export function totalsOf(queues: QueueView[]): QueueTotals {
  return {
    queues: queues.length,
    waiting: queues.reduce((sum, queue) => sum + queue.waiting, 0),
    more: queues.some((queue) => queue.more_waiting),
    unattended: queues.filter((queue) => queue.unattended),
  };
}
