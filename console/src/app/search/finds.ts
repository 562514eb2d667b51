import type { JobView } from "../../api/generated/models";

/** One line of what a search found: what it is, and where it leads. */
export type Find =
  | { kind: "job"; name: string; to: string }
  | { kind: "instance"; id: string; to: string }
  | { kind: "task"; type: string; key: string; to: string }
  | { kind: "key"; key: string; to: string };

const part = encodeURIComponent;

/** What a text may mean, the surest first: an instance's id, a task as `type/key`, a job's name, a business key. */
export function finds(text: string, jobs: JobView[]): Find[] {
  const asked = text.trim();
  if (!asked) return [];
  if (/^ins_[0-9a-z]+$/.test(asked)) return [{ kind: "instance", id: asked, to: `/instances/${asked}` }];
  const found: Find[] = jobs.map((job) => ({ kind: "job", name: job.name, to: `/jobs/${part(job.name)}` }));
  const [type, ...rest] = asked.split("/");
  const key = rest.join("/");
  if (type && key) found.unshift({ kind: "task", type, key, to: `/tasks/${part(type)}/${part(key)}` });
  else found.push({ kind: "key", key: asked, to: `/instances?key=${part(JSON.stringify(asked))}` });
  return found;
}
