/** What the API fills in by itself, so that a version says only what somebody decided, and two versions differ in no more. */
type Told = Record<string, unknown>;

export const RETRY: Told = { base: 0.5, jitter_min: 0.1, jitter_max: 0.8, longest: 300, max_failures: 6 };

export const POLICIES: Told = {
  misfire: { policy: "once", max_lateness: null, cap: null, pace: 0 },
  overlap: "allow",
  spread: { window: 0, jitter: 0 },
  start: null,
  end: null,
  max_count: null,
};

/** Where nothing at all and something empty are different things. */
const MEANT = new Set(["payload", "body"]);

/** A value without what is as it would be anyway, and without what is empty. */
export function plain(value: Told, usual: Told): Told {
  const kept = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    const rest = isTold(one) && isTold(usual[key]) ? plain(one, usual[key]) : one;
    return rest === undefined || rest === usual[key] || (isEmpty(rest) && !MEANT.has(key))
      ? []
      : [[key, rest]];
  });
  return Object.fromEntries(kept);
}

const isTold = (value: unknown): value is Told =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isTold(value) && Object.keys(value).length === 0);
