import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { readTime } from "../../parts/search-params";

/** `minute` narrows the busiest seconds to one cell of the heatmap, `second` is the one whose jobs are shown. */
interface Search {
  minute?: string;
  second?: string;
}

const page = createRoute({
  getParentRoute: () => root,
  path: "/forecast",
  validateSearch: (raw: Record<string, unknown>): Search => ({
    minute: readTime(raw.minute),
    second: readTime(raw.second),
  }),
  component: lazyPage(() => import("./ForecastPage"), "ForecastPage", ["forecast", "overview"]),
});

export const forecast = [page] as const;
