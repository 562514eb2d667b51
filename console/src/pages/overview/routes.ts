import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: (raw: Record<string, unknown>): { owner?: string } => ({ owner: readText(raw.owner) }),
  component: lazyRouteComponent(() => import("./OverviewPage"), "OverviewPage"),
});

export const overview = [index] as const;
