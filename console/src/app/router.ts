import { createRouter } from "@tanstack/react-router";
import { overview } from "../pages/overview/routes";
import { root } from "./root";

/** Every page by its address; each noun lists its own routes, and each page is loaded when it is opened. */
export const router = createRouter({
  routeTree: root.addChildren([...overview]),
  basepath: "/console",
  scrollRestoration: true,
  defaultPendingMs: 300,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
