export default {
  label: "Scheduler health",
  starting: "Starting",
  healthy: "The scheduler is healthy",
  degraded: "Degraded: 95 % of fires start within {{delay}} (limit {{limit}})",
  cellsDown: "Degraded: no answer from cell {{cells}}",
  failed: "Could not read the health, retry {{failures}}: {{error}}",
  readOnly: "Repeated failures: the console is read-only and shows the last health summary",
  last: "Last answer {{when}}",
};
