/**
 * The few calls that are not part of the load: what the server is, and which roots its blocks have. Sends one or a few at a
 * time.
 */
import {request} from "undici";
import {LoadError} from "../loadError.ts";
import {shorten} from "../traffic/answer.ts";
import type {Endpoint} from "../traffic/connection.ts";

/** The server answered with an error object. */
export class RpcAnswerError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
    this.name = "RpcAnswerError";
  }
}

const CALLS_AT_ONCE = 8;

export class RpcClient {
  constructor(private readonly endpoint: Endpoint) {}

  /**
   * @returns the result
   * @throws RpcAnswerError for an error object; LoadError UNREACHABLE if there is no JSON-RPC answer
   */
  async call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const {origin, path, userAgent, timeoutMs} = this.endpoint;
    let status: number;
    let text: string;
    try {
      const response = await request(`${origin}${path}`, {
        method: "POST",
        headers: {"content-type": "application/json", "user-agent": userAgent},
        body: JSON.stringify({jsonrpc: "2.0", id: 1, method, params}),
        signal: AbortSignal.timeout(timeoutMs),
      });
      status = response.statusCode;
      text = await response.body.text();
    } catch (error) {
      throw new LoadError("UNREACHABLE", `cannot reach ${origin}: ${describe(error)}`);
    }
    return readResult(`${origin} answered ${method} with`, status, text);
  }

  /** @returns the result, or undefined if the server does not have the method or has no result for these parameters */
  async tryCall(method: string, params: readonly unknown[] = []): Promise<unknown> {
    try {
      return (await this.call(method, params)) ?? undefined;
    } catch (error) {
      if (error instanceof RpcAnswerError) return undefined;
      throw error;
    }
  }

  /** Sends a few calls at a time. @returns results by key */
  async callAll<K>(
    keys: Iterable<K>,
    callOf: (key: K) => readonly [method: string, params: readonly unknown[]],
  ): Promise<Map<K, unknown>> {
    const results = new Map<K, unknown>();
    const waiting = [...keys];
    const work = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop())
        results.set(key, await this.call(...callOf(key)));
    };
    await Promise.all(Array.from({length: CALLS_AT_ONCE}, work));
    return results;
  }
}

function readResult(what: string, status: number, text: string): unknown {
  let answer: {
    readonly result?: unknown;
    readonly error?: {readonly code?: unknown; readonly message?: unknown};
  };
  try {
    // What is not an object has no members; null and undefined become one.
    answer = Object(JSON.parse(text));
  } catch {
    throw new LoadError("UNREACHABLE", `${what} HTTP ${status} and no JSON: ${shorten(text)}`);
  }
  const {error} = answer;
  if (status === 200 && typeof error === "object" && error !== null)
    throw new RpcAnswerError(
      typeof error.code === "number" ? error.code : Number.NaN,
      shorten(error.message),
    );
  if (status !== 200 || !("result" in answer))
    throw new LoadError("UNREACHABLE", `${what} HTTP ${status} and no JSON-RPC answer: ${shorten(text)}`);
  return answer.result;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.message === "" ? code || error.name : error.message;
}
