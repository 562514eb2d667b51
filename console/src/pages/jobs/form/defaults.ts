/** The defaults of the API. They are left out, so that two versions differ only in what a user changed. */
type JsonObject = Record<string, unknown>;

export const RETRY_DEFAULTS: JsonObject = {
  base: 0.5,
  jitter_min: 0.1,
  jitter_max: 0.8,
  longest: 300,
  max_failures: 6,
};

export const POLICY_DEFAULTS: JsonObject = {
  misfire: { policy: "once", max_lateness: null, cap: null, pace: 0 },
  overlap: "allow",
  spread: { window: 0, jitter: 0, exact: false },
  start: null,
  end: null,
  max_count: null,
};

/** Fields where null and an empty value differ. */
const KEPT_WHEN_EMPTY = new Set(["payload", "body"]);

/** Returns a value without its defaults and its empty parts. */
export function omitDefaults(value: JsonObject, defaults: JsonObject): JsonObject {
  const kept = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    const rest = isObject(one) && isObject(defaults[key]) ? omitDefaults(one, defaults[key]) : one;
    return rest === undefined || rest === defaults[key] || (isEmpty(rest) && !KEPT_WHEN_EMPTY.has(key))
      ? []
      : [[key, rest]];
  });
  return Object.fromEntries(kept);
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean =>
  (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.keys(value).length === 0);
