/** The texts of the log, the result and the progress of a run. */
export default {
  title: "Log",
  follow: "Follow new lines",
  live: "Live, {{count}} lines so far",
  ended: "{{count}} lines",
  waiting: "Live, no lines yet",
  none: "No lines. Lines are kept for some days only; runs that call a URL have lines only if the target returns them.",
  broken: "The stream was interrupted.",
  notPermitted: "Log lines may hold business data: reading them needs the permission payloads.read.",
  attempt: "Attempt {{number}}",
  dropped: "{{count}} older lines were dropped here: an attempt keeps its last 1 MiB.",
  droppedHere: "{{count}} older lines were dropped from this page; horae logs shows all.",
  progress: "Progress",
  answersHidden: "Responses of targets are hidden: reading them needs the permission payloads.read.",
  until: "until",
  result: {
    title: "Result",
    none: "The run returned no result.",
    gone: "The result is no longer kept.",
    later: "The result is shown when the run has ended.",
    notPermitted: "The result may hold business data: reading it needs the permission payloads.read.",
  },
};
