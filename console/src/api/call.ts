import { csrfToken } from "./csrf";
import { ApiError, type Problem, UnreachableError } from "./errors";
import { readJson, restoreIntegers } from "./json";

/** Called when the server no longer accepts the session; `app/session.ts` sets it. */
let sessionEnded: () => void = () => {};

export function onSessionEnd(listener: () => void): void {
  sessionEnded = listener;
}

/** Sends one request to the API: JSON in both directions, the CSRF token with every write, each error status thrown. */
export async function call<T>(url: string, options: RequestInit = {}): Promise<T> {
  const answer = await send(url, options);
  const text = await answer.text();
  if (!answer.ok) throw errorOf(answer, text);
  return (text ? readJson(text) : undefined) as T;
}

/** Opens a stream of the API: its response as soon as it begins, each error status thrown. */
export async function openStream(url: string, options: RequestInit): Promise<Response> {
  const answer = await send(url, options);
  if (!answer.ok) throw errorOf(answer, await answer.text());
  return answer;
}

async function send(url: string, options: RequestInit): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = csrfToken();
  if (token && (options.method ?? "GET") !== "GET") headers.set("Horae-CSRF", token);
  try {
    const body = typeof options.body === "string" ? restoreIntegers(options.body) : options.body;
    return await fetch(checkUrl(url), { ...options, body, headers, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new UnreachableError(error);
  }
}

/** Refuses `.` and `..` in a path: a browser removes them, and the request would reach another resource. */
function checkUrl(url: string): string {
  const [path = ""] = url.split("?");
  const wrongPart = path.split("/").find((part) => /^(?:\.|%2e){1,2}$/i.test(part));
  if (wrongPart === undefined) return url;
  throw new ApiError({
    status: 422,
    code: "SCH_422_INVALID",
    detail: `"${wrongPart}" cannot be a part of an address`,
    errors: [],
    retryAfter: null,
  });
}

function errorOf(answer: Response, text: string): ApiError {
  const fields = parseProblem(text);
  if (answer.status === 401 && !answer.url.includes("/login/")) sessionEnded();
  return new ApiError({
    status: answer.status,
    code: fields?.code ?? `HTTP_${answer.status}`,
    detail: fields?.detail ?? `HTTP ${answer.status}`,
    errors: fields?.errors ?? [],
    retryAfter: Number(answer.headers.get("Retry-After")) || null,
  });
}

function parseProblem(text: string): Problem | null {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return null; // a proxy answered with its own page
  }
}

/** Returns the headers of a write that takes effect once, also when it is sent again. */
export function withIdempotencyKey(key: string): RequestInit {
  return { headers: { "Idempotency-Key": key } };
}
