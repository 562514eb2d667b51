import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../../app/lazy-page";
import { root } from "../../app/root";
import { statusOf } from "../rolling/subject-status";

/** Returns a search parameter as text; other values are ignored. */
const readText = (value: unknown): string | undefined =>
  typeof value === "string" || typeof value === "number" ? String(value) : undefined;

/** The orders of the list of jobs other than by name. */
export const ORDERS = ["changed_at", "next_fire_at"] as const;
type JobOrder = (typeof ORDERS)[number];

export const isOrder = (value: unknown): value is JobOrder => ORDERS.some((order) => order === value);

export interface ListSearch {
  contains?: string;
  status?: string;
  label?: string;
  owner?: string;
  prefix?: string;
  order?: JobOrder;
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
    order: isOrder(raw.order) ? raw.order : undefined,
    cursor: readText(raw.cursor),
  }),
  component: lazyPage(() => import("./JobsPage"), "JobsPage", ["jobs"]),
});

const create = createRoute({
  getParentRoute: () => root,
  path: "/jobs/new",
  component: lazyPage(() => import("./form/NewJobPage"), "NewJobPage", ["jobs", "forecast"]),
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
  component: lazyPage(() => import("./JobPage"), "JobPage", ["jobs", "backfills", "graphs", "rolling"]),
});

const edit = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$job/edit",
  component: lazyPage(() => import("./form/EditJobPage"), "EditJobPage", ["jobs", "forecast"]),
});

export const jobs = [list, create, detail, edit] as const;
