/** deploy/haproxy.cfg before two services, as clients and operators meet it. Only the addresses, the file and one limit are changed. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {readFileSync} from "node:fs";
import {cp, writeFile} from "node:fs/promises";
import {createServer as createHttpServer} from "node:http";
import {type ClientHttp2Session, connect as connectHttp2} from "node:http2";
import {type AddressInfo, createServer} from "node:net";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {connect as connectTls} from "node:tls";
import {gunzipSync} from "node:zlib";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {LOOK_MS} from "../support/http/askedService.ts";
import {OwnService} from "../support/http/ownService.ts";
import {encodePost} from "../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, proofText} from "../support/http/wireRequests.ts";
import {runChild, startChild} from "../support/processes/childProcesses.ts";
import {notRun} from "../support/processes/notRun.ts";

const CONFIG = readFileSync(
  new URL("./deploy/haproxy.cfg", import.meta.resolve("#package/package.json")),
  "utf8",
);
const {first: PAIR} = JSON.parse(
  readFileSync(
    new URL("./test/fixtures/own/tlsPairs.json", import.meta.resolve("#package/package.json")),
    "utf8",
  ),
);
/** In place of 2000 in 10 s. */
const LIMIT = 300;

let folder: WorkFolder;
let isThere = false;
let port: number;
const services: OwnService[] = [];

/** @returns a port that was free just now: HAProxy cannot say which one it was given */
async function findPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const {port} = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

function change(text: string, from: string, to: string): string {
  assert.ok(text.includes(from), `haproxy.cfg has ${from}`);
  return text.replace(from, to);
}

before(async () => {
  isThere = (await runChild("sh", ["-c", "command -v haproxy"])).code === 0;
  if (!isThere) return;
  folder = await WorkFolder.create();
  const db = await folder.importChain("db", 2, 2);
  await cp(db, folder.file("copy"), {recursive: true});
  for (const one of [db, folder.file("copy")])
    services.push(await OwnService.serve(["--db", one, "--log-requests", "--trust-forwarded", "127.0.0.1"]));
  await writeFile(folder.file("edge.pem"), PAIR.cert + PAIR.key);
  const edge = await startEdge(services.map(service => service.port));
  port = edge.port;
  after(async () => {
    await edge.stop();
    for (const service of services) await service.stop();
    await folder.remove();
  });
});

interface Edge {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts HAProxy before two services, with the file changed as its head says. @param ports - of the services */
async function startEdge(ports: readonly number[]): Promise<Edge> {
  const port = await findPort();
  const config = [
    ["bind :443 ssl", `bind 127.0.0.1:${port} ssl`],
    ["bind :80", `bind 127.0.0.1:${await findPort()}`],
    ["/etc/haproxy/proofd.pem", folder.file("edge.pem")],
    ["gt 2000", `gt ${LIMIT}`],
    ["127.0.0.1:8545", `127.0.0.1:${ports[0]}`],
    ["127.0.0.1:8546", `127.0.0.1:${ports[1]}`],
  ].reduce((text, [from, to]) => change(text, from as string, to as string), CONFIG);
  const path = folder.file(`haproxy-${port}.cfg`);
  await writeFile(path, config);
  const haproxy = startChild("haproxy", ["-db", "-f", path]);
  haproxy.stdout.resume();
  let said = "";
  haproxy.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const stop = async () => {
    haproxy.kill("SIGKILL");
    await once(haproxy, "close");
  };
  for (;;) {
    const socket = connectTls({port, host: "127.0.0.1", rejectUnauthorized: false});
    const isOpen = await once(socket, "secureConnect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return {port, stop};
    assert.equal(haproxy.exitCode, null, said);
    await pause(LOOK_MS);
  }
}

function openHttp2(localAddress: string, edgePort = port): ClientHttp2Session {
  return connectHttp2(`https://localhost:${port}`, {
    createConnection: () =>
      connectTls({
        port: edgePort,
        host: "127.0.0.1",
        localAddress,
        ca: PAIR.cert,
        servername: "localhost",
        ALPNProtocols: ["h2"],
      } as never),
  });
}

/** @param body - comes after the headers */
async function ask(
  session: ClientHttp2Session,
  body: string | Promise<string>,
  headers: Readonly<Record<string, string>> = {},
) {
  const stream = session.request({
    ":method": "POST",
    ":path": "/",
    "content-type": "application/json",
    ...headers,
  });
  stream.end(await body);
  const [answer] = await once(stream, "response");
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return {status: Number(answer[":status"]), headers: answer, body: Buffer.concat(chunks)};
}

test("HTTP/2 and gzip reach proofd, which sees the client's address and no forged one", async t => {
  if (!isThere) return notRun(t, "no haproxy in PATH");
  const session = openHttp2("127.0.0.7");
  const plain = await ask(session, CHAIN_CALL, {"x-forwarded-for": "9.9.9.9"});
  assert.equal(plain.body.toString(), CHAIN_ANSWER);
  const body = proofText(1, 2);
  const {body: zipped, headers} = await ask(session, body, {"accept-encoding": "gzip"});
  assert.equal(headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(zipped), (await ask(session, body)).body);
  session.close();
  const logged = services.map(({stderr}) => stderr).join("");
  assert.match(logged, /"127\.0\.0\.7"/);
  assert.doesNotMatch(logged, /9\.9\.9\.9/);
});

test("requests that could be read in two ways, and paths for operators, do not reach proofd", async t => {
  if (!isThere) return notRun(t, "no haproxy in PATH");
  const type = "Content-Type: application/json\r\n";
  const post = encodePost(CHAIN_CALL);
  const size = CHAIN_CALL.length.toString(16);
  const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\n${type}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${CHAIN_CALL}\r\n0\r\n\r\n`;
  const table: readonly (readonly [string, number])[] = [
    [post.replace(type, `${type}Content-Length: 1\r\n`), 400],
    [post.replace(type, `${type}: no name\r\n`), 400],
    [post.replace(type, `${type}Host: other.example\r\n`), 400],
    [post.replace(type, `${type}Transfer-Encoding: gzip, chunked\r\n`), 422],
    [chunked.replace(CHAIN_CALL, `${CHAIN_CALL}XX`), 400],
    ["GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 404],
    [post.replace(/Content-Length: \d+/, "Content-Length: 5242881"), 413],
  ];
  for (const [request, status] of table) {
    const socket = connectTls({port, host: "127.0.0.1", ca: PAIR.cert, servername: "localhost"});
    await once(socket, "secureConnect");
    socket.write(request);
    const [answer] = await once(socket, "data");
    assert.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `), request);
    socket.destroy();
  }
});

test("a client with too many requests is 429, and another one is answered", async t => {
  if (!isThere) return notRun(t, "no haproxy in PATH");
  const session = openHttp2("127.0.0.8");
  let last = await ask(session, CHAIN_CALL);
  for (let count = 1; count <= LIMIT && last.status === 200; count++) last = await ask(session, CHAIN_CALL);
  assert.equal(last.status, 429);
  assert.equal(JSON.parse(last.body.toString()).error.code, -32005);
  session.close();
  const other = openHttp2("127.0.0.9");
  assert.equal((await ask(other, CHAIN_CALL)).status, 200);
  other.close();
});

test("a service that stops loses no request: the other one answers", async t => {
  if (!isThere) return notRun(t, "no haproxy in PATH");
  const session = openHttp2("127.0.0.10");
  let isStopped = false;
  const stop = async () => {
    await services.shift()?.stop();
    isStopped = true;
  };
  const asking = async () => {
    // While it stops, and after.
    for (let after = 0; after < 20; after += isStopped ? 1 : 0) {
      assert.equal((await ask(session, CHAIN_CALL)).body.toString(), CHAIN_ANSWER);
      await pause(LOOK_MS);
    }
  };
  await Promise.all([asking(), stop()]);
  session.close();
});

test("a request that one service is too busy for is sent once more, over HTTP/1.1 and HTTP/2", async t => {
  if (!isThere) return notRun(t, "no haproxy in PATH");
  let tries = 0;
  const busy = createHttpServer((request, response) => {
    request.resume();
    if (request.method === "POST") tries++;
    response.writeHead(request.method === "POST" ? 503 : 200, {"content-type": "application/json"}).end("{}");
  }).listen(0, "127.0.0.1");
  await once(busy, "listening");
  const {port: busyPort} = busy.address() as AddressInfo;
  const edge = await startEdge([busyPort, busyPort]);
  try {
    const session = openHttp2("127.0.0.11", edge.port);
    assert.equal((await ask(session, pause(LOOK_MS, CHAIN_CALL))).status, 503);
    assert.equal(tries, 2);
    session.close();
    const socket = connectTls({port: edge.port, host: "127.0.0.1", ca: PAIR.cert, servername: "localhost"});
    await once(socket, "secureConnect");
    socket.write(encodePost(CHAIN_CALL));
    assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1.1 503 /);
    assert.equal(tries, 4);
    socket.destroy();
  } finally {
    await edge.stop();
    busy.closeAllConnections();
    busy.close();
  }
});
