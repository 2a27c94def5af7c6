/** An error that ends a load without a report. */
export class LoadError extends Error {
  override readonly name = "LoadError";

  /** @param code - USAGE: the options do not fit the server. UNREACHABLE: there is no JSON-RPC answer */
  constructor(
    readonly code: "USAGE" | "UNREACHABLE",
    message: string,
  ) {
    super(message);
  }
}
