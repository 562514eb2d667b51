import type alertSettings from "./en/pages/alertSettings";
import type alerts from "./en/pages/alerts";
import type audit from "./en/pages/audit";
import type backfills from "./en/pages/backfills";
import type calendars from "./en/pages/calendars";
import type capacity from "./en/pages/capacity";
import type deadLetters from "./en/pages/deadLetters";
import type drills from "./en/pages/drills";
import type events from "./en/pages/events";
import type forecast from "./en/pages/forecast";
import type graphs from "./en/pages/graphs";
import type incidents from "./en/pages/incidents";
import type instances from "./en/pages/instances";
import type jobs from "./en/pages/jobs";
import type limits from "./en/pages/limits";
import type logs from "./en/pages/logs";
import type onCall from "./en/pages/onCall";
import type overview from "./en/pages/overview";
import type retention from "./en/pages/retention";
import type rolling from "./en/pages/rolling";
import type secrets from "./en/pages/secrets";
import type sources from "./en/pages/sources";
import type tasks from "./en/pages/tasks";
import type tenants from "./en/pages/tenants";
import type triage from "./en/pages/triage";
import type workers from "./en/pages/workers";

/** The texts of the pages by namespace: a route loads those that its page shows. */
export interface PageTexts {
  alertSettings: typeof alertSettings;
  alerts: typeof alerts;
  audit: typeof audit;
  backfills: typeof backfills;
  calendars: typeof calendars;
  capacity: typeof capacity;
  deadLetters: typeof deadLetters;
  drills: typeof drills;
  events: typeof events;
  forecast: typeof forecast;
  graphs: typeof graphs;
  incidents: typeof incidents;
  instances: typeof instances;
  jobs: typeof jobs;
  limits: typeof limits;
  logs: typeof logs;
  onCall: typeof onCall;
  overview: typeof overview;
  retention: typeof retention;
  rolling: typeof rolling;
  secrets: typeof secrets;
  sources: typeof sources;
  tasks: typeof tasks;
  tenants: typeof tenants;
  triage: typeof triage;
  workers: typeof workers;
}

export type PageNamespace = keyof PageTexts;
