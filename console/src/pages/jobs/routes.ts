import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";

/** A value of the address as text; whatever else stands there is left out. */
const text = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

interface ListSearch {
  status?: string;
  label?: string;
  prefix?: string;
  cursor?: string;
}

interface JobSearch {
  view?: string;
  month?: string;
  prefix?: string;
  cursor?: string;
  before?: number;
  after?: number;
}

const list = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: (told: Record<string, unknown>): ListSearch => ({
    status: text(told.status),
    label: text(told.label),
    prefix: text(told.prefix),
    cursor: text(told.cursor),
  }),
  component: lazyRouteComponent(() => import("./JobsPage"), "JobsPage"),
});

const fresh = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  component: lazyRouteComponent(() => import("./form/NewJobPage"), "NewJobPage"),
});

const one = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job",
  validateSearch: (told: Record<string, unknown>): JobSearch => ({
    view: text(told.view),
    month: text(told.month),
    prefix: text(told.prefix),
    cursor: text(told.cursor),
    before: Number(told.before) || undefined,
    after: Number(told.after) || undefined,
  }),
  component: lazyRouteComponent(() => import("./JobPage"), "JobPage"),
});

const edit = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job/edit",
  component: lazyRouteComponent(() => import("./form/EditJobPage"), "EditJobPage"),
});

export const jobs = [list, fresh, one, edit] as const;
