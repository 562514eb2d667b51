import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

const run = createRoute({
  getParentRoute: () => root,
  path: "/graph-runs/$instance",
  validateSearch: (raw: Record<string, unknown>): { step?: string } => ({
    step: typeof raw.step === "string" || typeof raw.step === "number" ? String(raw.step) : undefined,
  }),
  component: lazyRouteComponent(() => import("./RunPage"), "RunPage"),
});

export const graphs = [run] as const;
