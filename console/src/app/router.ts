import { createRouter } from "@tanstack/react-router";
import { alerts } from "../pages/alerts/routes";
import { audit } from "../pages/audit/routes";
import { backfills } from "../pages/backfills/routes";
import { calendars } from "../pages/calendars/routes";
import { capacity } from "../pages/capacity/routes";
import { deadLetters } from "../pages/dead-letters/routes";
import { drills } from "../pages/drills/routes";
import { events } from "../pages/events/routes";
import { forecast } from "../pages/forecast/routes";
import { graphs } from "../pages/graphs/routes";
import { incidents } from "../pages/incidents/routes";
import { instances } from "../pages/instances/routes";
import { jobs } from "../pages/jobs/routes";
import { limits } from "../pages/limits/routes";
import { overview } from "../pages/overview/routes";
import { retention } from "../pages/retention/routes";
import { rolling } from "../pages/rolling/routes";
import { secrets } from "../pages/secrets/routes";
import { sources } from "../pages/sources/routes";
import { tasks } from "../pages/tasks/routes";
import { tenants } from "../pages/tenants/routes";
import { workers } from "../pages/workers/routes";
import { root } from "./root";

/** All routes. Each folder of `pages` lists its own; a page is loaded when it is opened. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...overview,
    ...forecast,
    ...jobs,
    ...instances,
    ...graphs,
    ...tasks,
    ...workers,
    ...sources,
    ...rolling,
    ...calendars,
    ...backfills,
    ...events,
    ...deadLetters,
    ...alerts,
    ...audit,
    ...incidents,
    ...drills,
    ...secrets,
    ...limits,
    ...retention,
    ...capacity,
    ...tenants,
  ]),
  basepath: "/console",
  scrollRestoration: true,
  defaultPendingMs: 300,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
