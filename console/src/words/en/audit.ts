export default {
  title: "Audit log",
  about:
    "Changes of definitions and permissions, and decisions of people, newest first. Entries are kept for 180 days and linked by a hash chain. Decisions about tasks are in the ledger of their key.",
  none: "No entries match.",
  show: "Show",
  reload: "Reload",
  since: "From (your time)",
  until: "Until (your time)",
  clear: "Clear filters",
  columns: { at: "Time", actor: "Actor", action: "Action", resource: "Resource", detail: "Detail" },
  chain: {
    title: "Hash chain",
    cell: "Cell",
    block: "Blocks",
    at: "Last block added",
    hash: "Hash of the last block",
  },
  empty: {
    title: "No entries yet",
    help: "The first job, key or role creates the first entry.",
  },
};
