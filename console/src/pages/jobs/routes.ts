import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { root } from "../../app/root";
import { statusOf } from "../rolling/subject-status";

/** Returns a search parameter as text; other values are ignored. */
const readText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

export interface ListSearch {
  contains?: string;
  status?: string;
  label?: string;
  owner?: string;
  prefix?: string;
  cursor?: string;
}

interface JobSearch {
  view?: string;
  step?: string;
  month?: string;
  status?: number;
  batch?: string;
  prefix?: string;
  cursor?: string;
  before?: number;
  after?: number;
}

const list = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: (raw: Record<string, unknown>): ListSearch => ({
    status: readText(raw.status),
    label: readText(raw.label),
    owner: readText(raw.owner),
    prefix: readText(raw.prefix),
    contains: readText(raw.contains),
    cursor: readText(raw.cursor),
  }),
  component: lazyRouteComponent(() => import("./JobsPage"), "JobsPage"),
});

const create = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  component: lazyRouteComponent(() => import("./form/NewJobPage"), "NewJobPage"),
});

const detail = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job",
  validateSearch: (raw: Record<string, unknown>): JobSearch => ({
    view: readText(raw.view),
    step: readText(raw.step),
    month: readText(raw.month),
    status: statusOf(raw.status),
    batch: readText(raw.batch),
    prefix: readText(raw.prefix),
    cursor: readText(raw.cursor),
    before: Number(raw.before) || undefined,
    after: Number(raw.after) || undefined,
  }),
  component: lazyRouteComponent(() => import("./JobPage"), "JobPage"),
});

const edit = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job/edit",
  component: lazyRouteComponent(() => import("./form/EditJobPage"), "EditJobPage"),
});

export const jobs = [list, create, detail, edit] as const;
