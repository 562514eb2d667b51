/** What problem+json says. */
export interface Problem {
  code: string;
  detail: string;
  errors?: Fault[];
}

/** One place of a request that is wrong. */
export interface Fault {
  at: (string | number)[];
  message: string;
}

interface Facts {
  status: number;
  code: string;
  detail: string;
  errors: Fault[];
  retryAfter: number | null;
}

/** The server said no. `code` is what the words of advice are looked up by. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: Fault[];
  readonly retryAfter: number | null;

  constructor(facts: Facts) {
    super(facts.detail);
    this.name = "Refused";
    this.status = facts.status;
    this.code = facts.code;
    this.errors = facts.errors;
    this.retryAfter = facts.retryAfter;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "Unreachable";
  }
}

/** Whether asking again later may help without changing anything. */
export function passing(error: unknown): boolean {
  return error instanceof Unreachable || (error instanceof Refused && error.status >= 500);
}

/** Whether what was read before is no longer there, or no longer ours to read. */
export function isGone(error: unknown): boolean {
  return error instanceof Refused && (error.status === 403 || error.status === 404);
}
