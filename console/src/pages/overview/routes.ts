import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readText } from "../../parts/search-params";

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: (raw: Record<string, unknown>): { owner?: string } => ({ owner: readText(raw.owner) }),
  component: lazyPage(() => import("./OverviewPage"), "OverviewPage", [
    "overview",
    "alertSettings",
    "alerts",
    "drills",
    "incidents",
    "onCall",
  ]),
});

export const overview = [index] as const;
