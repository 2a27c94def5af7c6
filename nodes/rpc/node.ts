/**
 * A node that answers JSON-RPC, as seen by the code that asks for blocks or events. nodes.ts decides which of several
 * nodes is asked, when work is tried again and how long to wait.
 */
/** A call that is not sent yet. Values are JSON. */
export interface NodeCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The body of a request with this call, before it is JSON. */
export function encodeCall({method, params}: NodeCall, id: number): object {
  return {jsonrpc: "2.0", id, method, params};
}

/** One node, for one piece of work. So the answers that the work gets are all of the same node. */
export interface Node {
  /** Scheme, host and port: for logs and messages. Paths, queries, users and headers may hold keys and are left out. */
  readonly name: string;
  /** @returns the result, parsed. @throws NodeRefusal, NodeFailure */
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /**
   * Sends the calls as JSON-RPC batches.
   *
   * @returns the results in the order of the calls
   * @throws NodeRefusal for the first call that the node refuses, NodeFailure
   */
  requestAll(calls: readonly NodeCall[]): Promise<unknown[]>;
}

/** "Method not found" and "invalid params" (JSON-RPC 2.0). */
const CODES_OF_CALL: ReadonlySet<number> = new Set([-32601, -32602]);

/**
 * The node answered with a JSON-RPC error that does not ask to come later. Another node may still have the answer
 * (nodes.ts).
 */
export class NodeRefusal extends Error {
  constructor(
    message: string,
    readonly code: number,
  ) {
    super(message);
    this.name = "NodeRefusal";
  }

  /** The same, naming the blocks that were asked for. @param hint - the end of the message */
  about(from: number, to: number, hint = ""): NodeRefusal {
    const blocks = from === to ? `block ${from}` : `blocks ${from} to ${to}`;
    return new NodeRefusal(`${blocks}: ${this.message}${hint}`, this.code);
  }

  /**
   * The error is about the call itself, so any node would give it. Other errors, such as "header not found", are about
   * the node.
   */
  get isOfCall(): boolean {
    return CODES_OF_CALL.has(this.code);
  }
}

/**
 * The node could not be asked, or its answer is of no use: no connection, time-out, HTTP error, not JSON-RPC, cut
 * short, too long, a missing block, another hash than asked for. The work is tried again, with another node if there is
 * one.
 */
export class NodeFailure extends Error {
  /** Milliseconds that the node asks callers to wait (Retry-After). */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options?: ErrorOptions & {readonly retryAfterMs?: number | undefined}) {
    super(message, options);
    this.name = "NodeFailure";
    this.retryAfterMs = options?.retryAfterMs;
  }
}

/**
 * A node contradicts the store, or contradicts what it or another node called final. Another try does not help, so it
 * is not tried again at once: finality stops where it is, until the contradiction is gone.
 */
export class Contradiction extends Error {
  override readonly name = "Contradiction";
}

/** Numbers and hashes, which geth also writes without 0x. A digit that follows a letter is part of a name. */
const NUMBERS = /0x[0-9a-f]+|\b[0-9a-f]{64}\b|\b\d+/gi;

/**
 * Whether a failure that comes again and again was logged before: once is enough, though the head that it names has
 * moved.
 */
export function isSameFailure(before: string, now: string): boolean {
  return before.replaceAll(NUMBERS, "#") === now.replaceAll(NUMBERS, "#");
}
