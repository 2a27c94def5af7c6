/** HAProxy with deploy/haproxy.cfg before services, and clients of it over HTTP/2. */
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {writeFile} from "node:fs/promises";
import {type ClientHttp2Session, connect as connectHttp2, type IncomingHttpHeaders} from "node:http2";
import {connect as connectTls, type TLSSocket} from "node:tls";
import type {WorkFolder} from "../chains/serviceChain.ts";
import {once, waitUntil, within} from "../wait.ts";
import {startChild} from "./childProcesses.ts";
import {findProgram} from "./foundProgram.ts";
import {findPorts} from "./freePorts.ts";

const read = (path: string): string =>
  readFileSync(new URL(path, import.meta.resolve("#package/package.json")), "utf8");
const CONFIG = read("./deploy/haproxy.cfg");
const {first: PAIR} = JSON.parse(read("./test/fixtures/own/tlsPairs.json"));
const SERVERS = /( {4}server [ab] .*\n){2}/g;

/** Texts of the file, and what stands there instead. */
type Changes = readonly (readonly [from: string, to: string])[];

interface EdgeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** @returns why there is no HAProxy here; undefined: there is one */
export function lacksHaproxy(): string | undefined {
  return findProgram("haproxy") === undefined ? "no haproxy in PATH" : undefined;
}

export class Edge {
  private constructor(
    readonly port: number,
    readonly stop: () => Promise<void>,
  ) {}

  /** Starts it with the file changed as its head says. @param ports - of the services */
  static async before(folder: WorkFolder, ports: readonly number[], changes: Changes = []): Promise<Edge> {
    // HAProxy cannot say which ones it was given.
    const [port = 0, plain = 0] = await findPorts(2);
    const pem = folder.file(`edge-${port}.pem`);
    await writeFile(pem, PAIR.cert + PAIR.key);
    const all: Changes = [
      ["bind :443 ssl", `bind 127.0.0.1:${port} ssl`],
      ["bind :80", `bind 127.0.0.1:${plain}`],
      ["/etc/haproxy/proofd.pem", pem],
      ["retries 1", `retries ${ports.length === 2 ? 1 : 3 * (ports.length - 1)}`],
      ...changes,
    ];
    const config = all.reduce((text, [from, to]) => change(text, from, to), CONFIG);
    assert.equal(config.match(SERVERS)?.length, 2, "haproxy.cfg names the servers twice");
    const servers = ports.map((one, at) => `    server s${at} 127.0.0.1:${one}\n`).join("");
    const path = folder.file(`haproxy-${port}.cfg`);
    await writeFile(path, config.replaceAll(SERVERS, servers));
    const haproxy = startChild("haproxy", ["-db", "-f", path]);
    haproxy.stdout.resume();
    let said = "";
    haproxy.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const edge = new Edge(port, async () => {
      const closed = once(haproxy, "close");
      haproxy.kill("SIGKILL");
      await closed;
    });
    await waitUntil("HAProxy to listen", async () => {
      const socket = connectTls({port, host: "127.0.0.1", rejectUnauthorized: false});
      const isOpen = await once(socket, "secureConnect").then(
        () => true,
        () => false,
      );
      socket.destroy();
      assert.equal(haproxy.exitCode, null, said);
      return isOpen;
    });
    return edge;
  }

  /** A connection for HTTP/1.1. */
  async connect(): Promise<TLSSocket> {
    const socket = connectTls({port: this.port, host: "127.0.0.1", ca: PAIR.cert, servername: "localhost"});
    await once(socket, "secureConnect");
    return socket;
  }

  /** @param localAddress - of the client, in 127.0.0.0/8 */
  openHttp2(localAddress: string): ClientHttp2Session {
    return connectHttp2(`https://localhost:${this.port}`, {
      createConnection: () =>
        connectTls({
          port: this.port,
          host: "127.0.0.1",
          localAddress,
          ca: PAIR.cert,
          servername: "localhost",
          ALPNProtocols: ["h2"],
        } as never),
    });
  }
}

function change(text: string, from: string, to: string): string {
  assert.ok(text.includes(from), `haproxy.cfg has ${from}`);
  return text.replaceAll(from, to);
}

export function ask(
  session: ClientHttp2Session,
  body: string | Promise<string>,
  headers: Readonly<Record<string, string>> = {},
): Promise<EdgeAnswer> {
  return send(
    session,
    {":method": "POST", ":path": "/", "content-type": "application/json", ...headers},
    body,
  );
}

export function askPath(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<EdgeAnswer> {
  return send(session, {":method": "GET", ":path": path, ...headers}, "");
}

async function send(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  body: string | Promise<string>,
): Promise<EdgeAnswer> {
  const stream = session.request(headers, {endStream: headers[":method"] === "GET"});
  if (headers[":method"] !== "GET") stream.end(await body);
  const [answer] = await within("an answer of HAProxy", once(stream, "response"));
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return {status: Number(answer[":status"]), headers: answer, body: Buffer.concat(chunks)};
}
