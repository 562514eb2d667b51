import { readText, readTime } from "../../parts/search-params";

/** The filters of the audit log; they are part of the address. */
export interface AuditFilters {
  actor?: string;
  action?: string;
  resource?: string;
  since?: string;
  until?: string;
  cursor?: string;
}

export function readFilters(raw: Record<string, unknown>): AuditFilters {
  return {
    actor: readText(raw.actor),
    action: readText(raw.action),
    resource: readText(raw.resource),
    since: readTime(raw.since),
    until: readTime(raw.until),
    cursor: readText(raw.cursor),
  };
}
