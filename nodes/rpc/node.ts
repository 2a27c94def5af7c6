/** A JSON-RPC node, as seen by code that reads blocks or events. */

/** Values are JSON. */
export interface NodeCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

export function encodeCall({method, params}: NodeCall, id: number): object {
  return {jsonrpc: "2.0", id, method, params};
}

/** One node for one unit of work, so that all responses come from the same node. */
export interface Node {
  /** Scheme, host and port, for logs. The rest of a URL may contain secrets. */
  readonly name: string;
  /** @returns the result, parsed. @throws NodeRefusal, NodeFailure */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Sends batches. @returns results in the order of the calls. @throws NodeRefusal of the first; NodeFailure */
  requestAll(calls: readonly NodeCall[]): Promise<unknown[]>;
}

/** "Method not found" and "invalid params" (JSON-RPC 2.0). */
const CODES_OF_CALL: ReadonlySet<number> = new Set([-32601, -32602]);

/** The node responded with a JSON-RPC error that is not transient. Another node may still succeed. */
export class NodeRefusal extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
    this.name = "NodeRefusal";
  }

  /** The same error, naming the requested blocks. @param hint - the end of the message */
  about(from: number, to: number, hint = ""): NodeRefusal {
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`;
    return new NodeRefusal(`${blocks}: ${this.message}${hint}`, this.code);
  }

  /** The call is invalid, so every node would refuse it. Others, such as "header not found", are about the node. */
  get isCallError(): boolean {
    return CODES_OF_CALL.has(this.code);
  }
}

/** @returns the answer, or that the node refuses it. @throws all other errors */
export function orRefusal<Answer>(asked: Promise<Answer>): Promise<Answer | NodeRefusal> {
  return asked.catch((error: unknown) => {
    if (error instanceof NodeRefusal) return error;
    throw error;
  });
}

/** The node gave no usable response: an HTTP error, a missing block, an unexpected hash. The work is retried. */
export class NodeFailure extends Error {
  /** From the header Retry-After. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & {readonly retryAfterMs?: number | undefined}) {
    super(message, options);
    this.name = "NodeFailure";
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/** A node contradicts the store, or what was called final. A retry does not help, so finality stops rising. */
export class Contradiction extends Error {
  override readonly name = "Contradiction";
}

/** Numbers and hashes, which geth also writes without 0x. A digit after a letter is part of a name. */
const NUMBERS = /0x[0-9a-f]+|\b[0-9a-f]{64}\b|\b\d+/gi;

/** Whether two failures differ only in numbers, such as the head. A repeated failure is logged once. */
export function isSameFailure(before: string, now: string): boolean {
  return before.replaceAll(NUMBERS, "#") === now.replaceAll(NUMBERS, "#");
}
