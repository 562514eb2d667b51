import { csrf } from "./csrf";
import { readJson, unmarked } from "./json";
import { type Problem, Refused, Unreachable } from "./trouble";

/** Told when the server no longer knows our session. The session's room listens. */
let left: () => void = () => {};

export function whenLeft(listener: () => void): void {
  left = listener;
}

/** One request to our own API: JSON in and out, the CSRF token with every change, every refusal as an error. */
export async function call<T>(url: string, options: RequestInit = {}): Promise<T> {
  const answer = await sent(url, options);
  const text = await answer.text();
  if (!answer.ok) throw refusal(answer, text);
  return (text ? readJson(text) : undefined) as T;
}

async function sent(url: string, options: RequestInit): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = csrf();
  if (token && (options.method ?? "GET") !== "GET") headers.set("Horae-CSRF", token);
  try {
    const body = typeof options.body === "string" ? unmarked(options.body) : options.body;
    return await fetch(steady(url), { ...options, body, headers, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Unreachable(error);
  }
}

/** A browser takes `.` and `..` out of a path, and the request would go to another resource. */
function steady(url: string): string {
  const [path = ""] = url.split("?");
  const other = path.split("/").find((part) => /^(?:\.|%2e){1,2}$/i.test(part));
  if (other === undefined) return url;
  throw new Refused({
    status: 422,
    code: "SCH_422_INVALID",
    detail: `"${other}" cannot be a part of an address`,
    errors: [],
    retryAfter: null,
  });
}

function refusal(answer: Response, text: string): Refused {
  const told = problem(text);
  if (answer.status === 401 && !answer.url.includes("/login/")) left();
  return new Refused({
    status: answer.status,
    code: told?.code ?? `HTTP_${answer.status}`,
    detail: told?.detail ?? `HTTP ${answer.status}`,
    errors: told?.errors ?? [],
    retryAfter: Number(answer.headers.get("Retry-After")) || null,
  });
}

function problem(text: string): Problem | null {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return null; // a proxy in between answered with a page of its own
  }
}

/** The headers of a change that is to happen once, however often it is sent. */
export function once(key: string): RequestInit {
  return { headers: { "Idempotency-Key": key } };
}
