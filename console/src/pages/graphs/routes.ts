import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";

const run = createRoute({
  getParentRoute: () => root,
  path: "/graph-runs/$instance",
  validateSearch: (raw: Record<string, unknown>): { step?: string } => ({
    step: typeof raw.step === "string" || typeof raw.step === "number" ? String(raw.step) : undefined,
  }),
  component: lazyPage(() => import("./RunPage"), "RunPage", ["graphs", "logs"]),
});

export const graphs = [run] as const;
