/** The service refused, or is not reachable, or nothing was sent. It quotes nothing private, and has no cause. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";

  constructor(
    /** Stays the same: a code of the service, or "unreachable", "bad_answer" or "pinned_mismatch". */
    readonly code: string,
    message: string,
    /** Of the HTTP response, if there was one. */
    readonly status?: number,
    /** How often it was tried. */
    readonly attempts = 0,
  ) {
    super(`${message} (${code})`);
  }
}
