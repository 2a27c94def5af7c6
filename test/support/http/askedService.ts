/** A service that a test asks over HTTP, whichever process it runs in. */
import {setTimeout as pause, setImmediate} from "node:timers/promises";
import {LOOK_MS, waitUntil, within} from "../wait.ts";
import {testedHttp} from "./testedHttp.ts";

/** Characters of a log that an error repeats. */
const KEPT_LOG = 4000;

/** Flags that read from hosts or files: why they fail stands in /readyz of --metrics-port only. */
const SOURCES = new Set(["--l1", "--l2", "--diffs", "--feed", "--publish"]);

/** Flags of `proofd serve` on a free port, before those of the test. @param estimates - whether it has threads for them */
export function serveFlags(args: readonly string[], estimates: boolean): string[] {
  const metrics = args.some(arg => SOURCES.has(arg)) ? ["--metrics-port", "0"] : [];
  const threads = estimates ? [] : ["--estimate-workers", "0"];
  return ["--port", "0", ...metrics, "--http", testedHttp(), ...threads, ...args];
}

export abstract class AskedService {
  abstract get url(): string;
  abstract readonly stderr: string;

  /** Where /metrics and the causes in /readyz are. */
  protected get operatorsUrl(): string {
    return this.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async post(body: string | Uint8Array): Promise<{status: number; text: string}> {
    const response = await this.fetch("", {
      method: "POST",
      headers: {"content-type": "application/json"},
      body: body as string,
    });
    return {status: response.status, text: await response.text()};
  }

  /** Like `post`, of one call, for a client with this Accept header. @returns also the answer's content type */
  async postAccepting(
    accept: string,
    body: unknown,
  ): Promise<{status: number; type: string | null; body: Buffer}> {
    const response = await this.fetch("", {
      method: "POST",
      headers: {"content-type": "application/json", accept},
      body: JSON.stringify(body),
    });
    const type = response.headers.get("content-type");
    return {status: response.status, type, body: Buffer.from(await response.arrayBuffer())};
  }

  async send(body: unknown) {
    return JSON.parse((await this.post(JSON.stringify(body))).text);
  }

  async call(method: string, params: unknown = []) {
    return this.send({jsonrpc: "2.0", id: 1, method, params});
  }

  /** @returns the value with exactly these labels, 0 if nothing was counted under them. @throws Error if there is no such metric */
  async readMetric(name: string): Promise<number> {
    return (await this.readMetrics(name))[0] as number;
  }

  /** Several values of one moment. @returns as `readMetric`, in the order of the names */
  async readMetrics(...names: readonly string[]): Promise<readonly number[]> {
    const {status, text} = await this.get("/metrics");
    return names.map(name => {
      const family = (name.split("{")[0] as string).replace(/_(bucket|count|sum)$/, "");
      if (status !== 200 || !text.includes(`# TYPE ${family} `))
        throw new Error(`/metrics has no ${family}: status ${status}, ${text.length} characters`);
      const line = text.split("\n").find(one => one.startsWith(`${name} `));
      return line === undefined ? 0 : Number(line.slice(name.length + 1));
    });
  }

  /** Resolves when it is time to look at the service again. */
  protected async changed(): Promise<void> {
    await pause(LOOK_MS);
  }

  /** Waits until something is so. @param what - "block 5 to be final". @throws Error with the end of the log if it is not in time */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    try {
      await waitUntil(what, isSo, () => this.changed());
    } catch (error) {
      throw new Error(`${(error as Error).message}; the log ends with:\n${this.stderr.slice(-KEPT_LOG)}`, {
        cause: error,
      });
    }
  }

  waitForStderr(pattern: RegExp): Promise<void> {
    return this.until(`a log with ${pattern}`, () => pattern.test(this.stderr));
  }

  /** @param path - of what operators read, such as "/readyz" */
  async get(path: string): Promise<{status: number; text: string}> {
    const response = await this.fetch(path, undefined, this.operatorsUrl);
    return {status: response.status, text: await response.text()};
  }

  /**
   * The event loop goes round before and after. Before, because a server closes idle connections: a test that has computed for
   * long would send its request on a closed one. After, so that `stderr` has what the service logged before it answered.
   */
  private async fetch(path: string, init?: RequestInit, url = this.url): Promise<Response> {
    await goRound();
    const response = await within(
      `the answer to ${init?.body ?? path}`.slice(0, 500),
      fetch(`${url}${path}`, init),
    );
    await goRound();
    return response;
  }
}

/** Lets the event loop look at all sockets and pipes. */
async function goRound(): Promise<void> {
  await setImmediate();
  // The first one may have come before this round's look.
  await setImmediate();
}
