import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/limits",
  component: lazyPage(() => import("./LimitsPage"), "LimitsPage", ["limits"]),
});

export const limits = [own] as const;
