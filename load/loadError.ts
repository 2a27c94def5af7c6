/** An error that ends a load without a report. */

type LoadFailure =
  /** The options do not fit the server. */
  | "USAGE"
  /** The server cannot be reached, or its answers are not JSON-RPC. */
  | "UNREACHABLE";

export class LoadError extends Error {
  constructor(
    readonly code: LoadFailure,
    message: string,
  ) {
    super(message);
    this.name = "LoadError";
  }
}
