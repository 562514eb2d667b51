/** The advice for each error code of the server. */
export default {
  unreachable: {
    title: "No answer",
    advice:
      "The API does not answer. Check your connection, then the API process; this page retries by itself.",
  },
  unknown: {
    title: "The request failed",
    advice: "Try again. If it fails again, send the code below to the operators of Horae.",
  },
  code: "Code",
  SCH_400_BAD_REQUEST: "The request could not be read. Reload the page and try again.",
  SCH_401_UNAUTHENTICATED:
    "Log in again. A key that was revoked or has expired is refused: ask an admin for a new one.",
  SCH_403_FORBIDDEN:
    "Your roles do not allow this. Ask an admin of the tenant, or reload the page if you logged in again elsewhere.",
  SCH_404_NOT_FOUND:
    "It is not in this tenant, or it was removed. Check the name, and the tenant at the top.",
  SCH_409_CONFLICT:
    "Nothing was changed. If it was changed by someone else, reload it, look at the changes, and decide again.",
  SCH_409_CONTENDED: "It was changed by others at the same time; nothing was changed. Try again.",
  SCH_409_COUNT_REACHED:
    "The tenant has reached the maximum number. Remove one, or ask the admin of the platform to allow more.",
  SCH_409_DUPLICATE:
    "This form was already sent with other values. Close it, check the result, and open it again.",
  SCH_409_NAME_TAKEN: "Choose another name, or edit the job that has it.",
  SCH_410_GONE: "It is older than what this deployment keeps. Choose a later time.",
  SCH_413_TOO_LARGE: "The content is too large: a payload has at most 64 KiB.",
  SCH_422_INVALID: "Correct the marked fields and send the form again.",
  SCH_422_SCHEDULE: "Correct the schedule: it is invalid in its dialect, or it never fires.",
  SCH_429_RATE_LIMITED: "Too many requests. Wait a moment.",
  SCH_429_RETRY_LIMITED: "The tenant's retry budget is used up. Wait, or ask for a larger one.",
  SCH_500_INTERNAL: "Internal error; details are in the API log. You can safely try again.",
  SCH_503_ARCHIVE:
    "The archive does not answer, or not in time. Choose a shorter time range, or try again in a moment.",
  SCH_503_KEYS: "The data cannot be decrypted now: the key service does not answer. Try again in a moment.",
  SCH_503_RELEASE: "A newer release wrote this. Pausing and removing work; upgrade this server for the rest.",
  SCH_503_DISPATCHER_DOWN:
    "No node leases this shard, so nothing was triggered. Start a node (horae node) or wait for the takeover.",
  SCH_503_SHARD_CLOSED: "The shard is being moved to another cell. Try again in a moment.",
  SCH_503_UNAVAILABLE: "A database does not answer. You can safely try again.",
};
