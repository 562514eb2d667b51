import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/retention",
  component: lazyPage(() => import("./RetentionPage"), "RetentionPage", ["retention"]),
});

export const retention = [own] as const;
