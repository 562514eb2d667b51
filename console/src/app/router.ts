import { createRouter } from "@tanstack/react-router";
import { audit } from "../pages/audit/routes";
import { events } from "../pages/events/routes";
import { instances } from "../pages/instances/routes";
import { jobs } from "../pages/jobs/routes";
import { letters } from "../pages/letters/routes";
import { overview } from "../pages/overview/routes";
import { rolling } from "../pages/rolling/routes";
import { sources } from "../pages/sources/routes";
import { tasks } from "../pages/tasks/routes";
import { tenants } from "../pages/tenants/routes";
import { root } from "./root";

/** Every page by its address; each noun lists its own routes, and each page is loaded when it is opened. */
export const router = createRouter({
  routeTree: root.addChildren([
    ...overview,
    ...jobs,
    ...instances,
    ...tasks,
    ...sources,
    ...rolling,
    ...events,
    ...letters,
    ...audit,
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
