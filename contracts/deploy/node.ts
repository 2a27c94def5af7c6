/** JSON-RPC calls to the node that the contracts are deployed through. This package depends on no other of proofd. */

const TIMEOUT_MS = 30_000;

export class Node {
  private readonly url: URL;
  private readonly headers: Record<string, string> = {"content-type": "application/json"};
  /** The URL without user, password, path and query, which may be secret. */
  readonly name: string;

  /** @throws Error if the text is not an http or https URL */
  constructor(text: string) {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol))
      throw new Error("--url: expected an http or https URL of a node, such as http://127.0.0.1:8545");
    const {username, password} = url;
    if (username !== "" || password !== "") {
      const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
      this.headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
      url.username = "";
      url.password = "";
    }
    this.url = url;
    this.name = url.origin;
  }

  /** @throws Error that names the node and its answer */
  async ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const body = JSON.stringify({jsonrpc: "2.0", id: 1, method, params});
    const text = await this.post(body).catch((error: Error) => {
      const cause = error.cause instanceof Error ? `: ${error.cause.message || error.cause.name}` : "";
      throw new Error(`--url: no answer from ${this.name}: ${error.message}${cause}`);
    });
    const answer = parseObject(text);
    if (answer?.error !== undefined) {
      const {message} = Object(answer.error) as {readonly message?: unknown};
      throw new Error(`${this.name} refuses ${method}: ${String(message).slice(0, 500)}`);
    }
    if (answer === undefined || !("result" in answer))
      throw new Error(
        `--url: ${this.name} is not a JSON-RPC node: it answers ${method} with ${shorten(text)}`,
      );
    return answer.result;
  }

  async askQuantity(method: string, ...params: readonly unknown[]): Promise<bigint> {
    const result = await this.ask(method, ...params);
    if (typeof result !== "string" || !/^0x[0-9a-f]{1,64}$/i.test(result))
      throw new Error(
        `${this.name} answers ${method} with ${shorten(JSON.stringify(result))}, not a quantity`,
      );
    return BigInt(result);
  }

  private async post(body: string): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const {headers} = this;
    const response = await fetch(this.url, {method: "POST", headers, body, signal, redirect: "error"});
    const text = await response.text();
    // Some nodes send JSON-RPC errors with an HTTP status other than 200.
    if (response.ok || parseObject(text)?.error !== undefined) return text;
    throw new Error(`HTTP status ${response.status}`);
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > 80 ? `${line.slice(0, 80)} ...` : line;
}
