/** What to do about a refusal, by the server's own codes. */
export default {
  unreachable: {
    title: "No answer",
    advice:
      "The API does not answer. Look at your connection, then at the API process; this page tries again by itself.",
  },
  unknown: {
    title: "That did not work",
    advice: "Try again. If it stays, give the code below to whoever runs Horae.",
  },
  code: "Code",
  SCH_400_BAD_REQUEST: "The request could not be read. Reload the page and try again.",
  SCH_401_UNAUTHENTICATED:
    "Log in again. A key that was revoked or has expired is refused: ask an admin for a new one.",
  SCH_403_FORBIDDEN:
    "Your roles do not cover this. Ask an admin of the tenant, or reload the page if you were logged in again elsewhere.",
  SCH_404_NOT_FOUND:
    "It is not in this tenant, or was removed. Look at the name, and at the tenant at the top.",
  SCH_409_CONFLICT:
    "Nothing was done. If it has changed meanwhile, reload it, look at what is new, and decide again.",
  SCH_409_CONTENDED: "It kept changing; nothing was done. Try again.",
  SCH_409_COUNT_REACHED:
    "The tenant has as many of these as it may. Remove one, or ask the platform's admin to allow more.",
  SCH_409_DUPLICATE:
    "This form was already sent with other values. Close it, look at what came of it, and open it anew.",
  SCH_409_NAME_TAKEN: "Choose another name, or edit the job that has it.",
  SCH_413_TOO_LARGE: "Send less: a payload has at most 64 KiB.",
  SCH_422_INVALID: "Correct what is marked and send it again.",
  SCH_422_SCHEDULE: "Correct the schedule: it means nothing in its dialect, or never fires.",
  SCH_429_RATE_LIMITED: "Too many requests. Wait a moment.",
  SCH_429_RETRY_LIMITED: "The tenant's budget for retries is used up. Wait, or ask for a larger one.",
  SCH_500_INTERNAL: "It is our fault and stands in the log of the API. Trying again is safe.",
  SCH_503_KEYS:
    "What is sealed cannot be opened now: the key service does not answer. Try again in a moment.",
  SCH_503_DISPATCHER_DOWN:
    "No node looks after this shard, so nothing was triggered. Start a node (horae node) or wait for the takeover.",
  SCH_503_SHARD_CLOSED: "The shard moves to another cell. Try again in a moment.",
  SCH_503_UNAVAILABLE: "A database does not answer. Trying again is safe.",
};
