/** Why there is no report. */

export type LoadFailure =
  /** What was asked for cannot be done with this server: a usage error that only the server could show. */
  | "USAGE"
  /** The server cannot be reached, or does not answer as JSON-RPC servers do. */
  | "UNREACHABLE";

export class LoadError extends Error {
  readonly code: LoadFailure;

  constructor(code: LoadFailure, message: string) {
    super(message);
    this.name = "LoadError";
    this.code = code;
  }
}
