import { type InstanceFilters, readFilters } from "../instances/filters";

/** The day of a certificate, as it stands in the address. */
export interface CertificateSearch {
  day?: string;
}

export function readDay(raw: Record<string, unknown>): CertificateSearch {
  const { day } = raw;
  return { day: typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined };
}

/** Yesterday in UTC: the newest day that can have a certificate. */
export function newestDay(now: Date): string {
  return new Date(now.getTime() - 24 * 3_600_000).toISOString().slice(0, 10);
}

/** The filters of the list of instances that the address of a number's rows asks for. */
export function filtersOf(rows: string): InstanceFilters {
  const address = new URL(rows, "http://localhost");
  const job = /^\/api\/v1\/jobs\/([^/]+)\/instances$/.exec(address.pathname)?.[1];
  const query = address.searchParams;
  return readFilters({
    job,
    state: query.getAll("state"),
    since: query.get("since") ?? undefined,
    until: query.get("until") ?? undefined,
    order: query.get("order") ?? undefined,
  });
}
