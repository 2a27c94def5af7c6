/** A headless Chromium on its debugging pipe: JSON with a zero byte after each message, descriptors 3 and 4. */
import {rm} from "node:fs/promises";
import type {Readable, Writable} from "node:stream";
import {once, waitUntil, within} from "../wait.ts";
import {startChild} from "./childProcesses.ts";
import {findProgram} from "./foundProgram.ts";

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
  "--disable-dev-shm-usage",
];

interface Message {
  readonly id?: number;
  readonly error?: {readonly message: string};
  readonly result?: unknown;
  readonly method?: string;
  readonly params?: unknown;
}

/** The result of Runtime.evaluate. */
interface Evaluated {
  readonly result: {readonly value: unknown; readonly description?: string};
  readonly exceptionDetails?: object;
}

/** @returns the program, or undefined if there is none in PATH */
export function findChromium(): string | undefined {
  return findProgram("chromium", "chromium-browser", "google-chrome");
}

export class Chromium {
  /** What the page complained of: errors, refused requests, violations of its policy. */
  readonly complaints: string[] = [];
  readonly requested: string[] = [];
  private readonly pending = new Map<number, (message: Message) => void>();
  private lastId = 0;
  private session: string | undefined;

  private constructor(
    private readonly child: ReturnType<typeof startChild>,
    private readonly profile: string,
  ) {
    let text = "";
    (child.stdio[4] as unknown as Readable).setEncoding("utf8").on("data", (piece: string) => {
      const messages = `${text}${piece}`.split("\0");
      text = messages.pop() as string;
      for (const message of messages) this.take(JSON.parse(message));
    });
    child.stdout.resume();
    child.stderr.resume();
  }

  /** @param profile - a folder of its own, which need not exist */
  static async start(program: string, profile: string): Promise<Chromium> {
    const flags = [...FLAGS, `--user-data-dir=${profile}`, "--remote-debugging-pipe", "about:blank"];
    const chromium = new Chromium(startChild(program, flags, {morePipes: 2}), profile);
    const target = await chromium.send<{targetId: string}>("Target.createTarget", {url: "about:blank"});
    const attached = {...target, flatten: true};
    chromium.session = (
      await chromium.send<{sessionId: string}>("Target.attachToTarget", attached)
    ).sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await chromium.send(`${domain}.enable`);
    return chromium;
  }

  /** @returns the result of a command, whose form the caller knows from the protocol. @throws Error of the browser */
  async send<Result>(method: string, params: object = {}): Promise<Result> {
    const id = ++this.lastId;
    const answered = new Promise<Message>(resolve => this.pending.set(id, resolve));
    const session = this.session === undefined ? {} : {sessionId: this.session};
    (this.child.stdio[3] as unknown as Writable).write(
      `${JSON.stringify({id, method, params, ...session})}\0`,
    );
    const {result, error} = await within(`Chromium to do ${method}`, answered);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as Result;
  }

  async open(url: string): Promise<void> {
    await this.send("Page.navigate", {url});
  }

  /** @returns what an expression is in the page, as JSON can say it. @throws Error of the page */
  async evaluate<Value>(expression: string): Promise<Value> {
    const parameters = {expression, awaitPromise: true, returnByValue: true};
    const {result, exceptionDetails} = await this.send<Evaluated>("Runtime.evaluate", parameters);
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${result.description}`);
    return result.value as Value;
  }

  /** Waits until an expression holds in the page. @throws Error if the page complains before */
  async until(expression: string): Promise<void> {
    await waitUntil(`a page with ${expression}`, async () => {
      if (await this.evaluate(`Boolean(${expression})`)) return true;
      if (this.complaints.length > 0) throw new Error(this.complaints.join("\n"));
      return false;
    });
  }

  async type(text: string): Promise<void> {
    await this.send("Input.insertText", {text});
  }

  async press(key: "Tab" | "Enter"): Promise<void> {
    const code = {Tab: 9, Enter: 13}[key];
    const named = {key, code: key, windowsVirtualKeyCode: code, ...(key === "Enter" ? {text: "\r"} : {})};
    await this.send("Input.dispatchKeyEvent", {type: "keyDown", ...named});
    await this.send("Input.dispatchKeyEvent", {type: "keyUp", ...named});
  }

  async stop(): Promise<void> {
    const closed = once(this.child, "close");
    this.session = undefined;
    await this.send("Browser.close");
    await closed;
    // Processes of the browser that write to its profile may end after it.
    await rm(this.profile, {recursive: true, force: true, maxRetries: 10, retryDelay: 50});
  }

  private take({id, method, params, ...rest}: Message): void {
    if (id !== undefined) {
      this.pending.get(id)?.(rest);
      this.pending.delete(id);
    } else if (method === "Network.requestWillBeSent")
      this.requested.push((params as {request: {url: string}}).request.url);
    else if (method === "Runtime.exceptionThrown" || method === "Log.entryAdded")
      this.complaints.push(JSON.stringify(params));
  }
}
