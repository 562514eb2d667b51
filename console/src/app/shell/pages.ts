/** The pages in the order of the menu: name, address, and the action that is needed to see it. */
export const PAGES = [
  { name: "overview", to: "/", needs: "health.read" },
  { name: "jobs", to: "/jobs", needs: "jobs.list" },
  { name: "instances", to: "/instances", needs: "instances.list" },
  { name: "tasks", to: "/tasks", needs: "tasks.read" },
  { name: "workers", to: "/workers", needs: "queues.list" },
  { name: "sources", to: "/sources", needs: "sources.list" },
  { name: "rolling", to: "/rolling", needs: "subjects.list" },
  { name: "events", to: "/events", needs: "subscriptions.list" },
  { name: "deadLetters", to: "/dead-letters", needs: "dead_letters.list" },
  { name: "alerts", to: "/alerts", needs: "alerts.list" },
  { name: "audit", to: "/audit", needs: "audit.list" },
  { name: "limits", to: "/limits", needs: "tenant.read" },
  { name: "retention", to: "/retention", needs: "retention.read" },
  { name: "capacity", to: "/capacity", needs: "growth.read" },
  { name: "tenants", to: "/tenants", needs: "tenant.read" },
] as const;
