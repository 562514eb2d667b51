/** The body of an application/problem+json response. */
export interface Problem {
  code: string;
  detail: string;
  errors?: FieldError[];
}

/** An invalid field of a request. */
export interface FieldError {
  at: (string | number)[];
  message: string;
}

interface ApiErrorFields {
  status: number;
  code: string;
  detail: string;
  errors: FieldError[];
  retryAfter: number | null;
}

/** The server answered with an error status. `code` selects the advice in the texts. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly errors: FieldError[];
  readonly retryAfter: number | null;

  constructor(fields: ApiErrorFields) {
    super(fields.detail);
    this.name = "ApiError";
    this.status = fields.status;
    this.code = fields.code;
    this.errors = fields.errors;
    this.retryAfter = fields.retryAfter;
  }
}

/** The server did not answer. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.name = "UnreachableError";
  }
}

/** Whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof UnreachableError || (error instanceof ApiError && error.status >= 500);
}

/** Whether the resource was removed, or may no longer be read. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 403 || error.status === 404);
}
