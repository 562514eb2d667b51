import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const own = createRoute({
  getParentRoute: () => root,
  path: "/capacity",
  component: lazyPage(() => import("./CapacityPage"), "CapacityPage", ["capacity"]),
});

export const capacity = [own] as const;
