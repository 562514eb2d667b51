export default {
  title: "Drills",
  about:
    "A drill breaks something on purpose, measures how long it takes until all is well again, and takes the way back. `horae drill` runs one; its signed report is on the host that ran it.",
  columns: {
    kind: "Drill",
    result: "Result",
    rto: "RTO",
    rpo: "RPO",
    reason: "Reason, and what was done",
    beganAt: "Began",
    brokenAt: "Fault",
    restoredAt: "Way back",
  },
  kinds: {
    "node-loss": "Node loss",
    "primary-loss": "Primary loss",
    "outage-of-targets": "Outage of targets",
    restore: "Restore",
    "cell-loss": "Cell loss",
  },
  passed: "passed",
  failed: "failed",
  target: "target {{time}}",
  notReached: "not reached",
  notKnown: "not known",
  charts: {
    rto_s: { title: "RTO over time", summary: "Drills shown: {{drills}}. The longest RTO is {{maximum}}." },
    rpo_s: { title: "RPO over time", summary: "Drills shown: {{drills}}. The longest RPO is {{maximum}}." },
  },
  empty: { title: "No drill has ended yet", help: "Run one of each kind every month, in staging:" },
};
