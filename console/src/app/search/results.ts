import type { JobView } from "../../api/generated/models";

/** A result of a search: its kind, and the address it opens. */
export type SearchResult =
  | { kind: "job"; name: string; to: string }
  | { kind: "instance"; id: string; to: string }
  | { kind: "task"; type: string; key: string; to: string }
  | { kind: "key"; key: string; to: string };

const encode = encodeURIComponent;

/** Returns the results for a text, the most specific first: instance id, task as `type/key`, job name, business key. */
export function resultsOf(text: string, jobs: JobView[]): SearchResult[] {
  const query = text.trim();
  if (!query) return [];
  if (/^ins_[0-9a-z]+$/.test(query)) return [{ kind: "instance", id: query, to: `/instances/${query}` }];
  const results: SearchResult[] = jobs.map((job) => ({
    kind: "job",
    name: job.name,
    to: `/jobs/${encode(job.name)}`,
  }));
  const [type, ...rest] = query.split("/");
  const key = rest.join("/");
  if (type && key) results.unshift({ kind: "task", type, key, to: `/tasks/${encode(type)}/${encode(key)}` });
  else results.push({ kind: "key", key: query, to: `/instances?key=${encode(JSON.stringify(query))}` });
  return results;
}
