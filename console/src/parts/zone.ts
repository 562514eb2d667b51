/** The time zone in which times are shown: the reader's, UTC, the tenant's, or that of the job where it has one. */
import { readPreference, savePreference } from "../app/preferences";

export const ZONE_CHOICES = ["mine", "utc", "tenant", "job"] as const;
export type ZoneChoice = (typeof ZONE_CHOICES)[number];

const PREFERENCE = "zone";
const listeners = new Set<() => void>();
const saved = readPreference(PREFERENCE);
let choice: ZoneChoice = ZONE_CHOICES.find((one) => one === saved) ?? "mine";
let tenantZone = "UTC";

export const myZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Returns the zone for a time; `jobZone` is that of the job that the time belongs to. */
export function displayZone(jobZone?: string): string {
  if (choice === "utc") return "UTC";
  if (choice === "tenant") return tenantZone;
  return choice === "job" && jobZone ? jobZone : myZone();
}

export const zoneChoice = (): ZoneChoice => choice;

/** What changes with every switch; a page that is shown again by it formats all its times anew. */
export const zoneKey = (): string => `${choice} ${choice === "tenant" ? tenantZone : ""}`;

export function setZoneChoice(chosen: ZoneChoice): void {
  choice = chosen;
  savePreference(PREFERENCE, chosen);
  notify();
}

export function setTenantZone(zone: string): void {
  if (zone === tenantZone) return;
  tenantZone = zone;
  notify();
}

export function onZoneChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function notify(): void {
  for (const listener of listeners) listener();
}
