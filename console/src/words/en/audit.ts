export default {
  title: "Audit log",
  about:
    "Definitions, permissions and people's decisions, newest first, kept for 180 days and sealed. Decisions about tasks stand in the ledger of their key.",
  none: "Nothing matches.",
  show: "Show",
  reload: "Reload",
  since: "From (your time)",
  until: "Until (your time)",
  clear: "Clear filters",
  columns: { at: "When", actor: "Who", action: "What", resource: "To what", detail: "Detail" },
  seal: {
    title: "Sealed up to",
    cell: "Cell",
    block: "Blocks",
    at: "Last sealed",
    hash: "Hash of the last block",
  },
  empty: {
    title: "Nothing has been done yet",
    help: "The first job, key or role leaves the first line here.",
  },
};
