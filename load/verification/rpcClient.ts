/** Calls that are not part of the load, on a connection of their own. */
import {LoadError} from "../loadError.ts";
import {createShown, isObject} from "../traffic/answer.ts";
import {Connection, type Endpoint} from "../traffic/connection.ts";
import {nowMs} from "../traffic/schedule.ts";

/** The server answered with an error object. */
export class RpcAnswerError extends Error {}

export class RpcClient {
  private readonly shown: (text: unknown) => string;

  constructor(private readonly endpoint: Endpoint) {
    this.shown = createShown(endpoint);
  }

  /** @throws RpcAnswerError for an error object; LoadError UNREACHABLE if there is no JSON-RPC answer */
  async call(method: string, params: readonly unknown[] = []): Promise<unknown> {
    const {origin} = this.endpoint;
    const {status, text} = await this.post(JSON.stringify({jsonrpc: "2.0", id: 1, method, params}));
    const what = `${origin} answered ${method} with HTTP ${status} and no JSON`;
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      throw new LoadError("UNREACHABLE", `${what}: ${this.shown(text)}`);
    }
    if (status === 200 && isObject(answer)) {
      if (isObject(answer.error)) throw new RpcAnswerError(this.shown(answer.error.message));
      if ("result" in answer) return answer.result;
    }
    throw new LoadError("UNREACHABLE", `${what}-RPC answer: ${this.shown(text)}`);
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

  private post(body: string): Promise<{status: number; text: string}> {
    const {origin, timeoutMs} = this.endpoint;
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        clearTimeout(timer);
        connection.close();
        reject(new LoadError("UNREACHABLE", `cannot reach ${origin}: ${reason}`));
      };
      const connection = new Connection(this.endpoint, {
        onAnswer: ({status, answer}) => {
          clearTimeout(timer);
          connection.close();
          resolve({status, text: answer.toString("utf8")});
        },
        onSocketError: (_, _code, message) => fail(message),
      });
      const timer = setTimeout(() => fail(`no answer within ${timeoutMs} ms`), timeoutMs);
      connection.send({text: body, estimates: []}, nowMs());
    });
  }
}
