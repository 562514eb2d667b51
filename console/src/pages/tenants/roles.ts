export const ROLES = ["viewer", "operator", "editor", "admin", "worker", "auditor"] as const;
