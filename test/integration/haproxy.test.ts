/** deploy/haproxy.cfg before two services, as clients and operators meet it. Only the addresses, the file and one limit are changed. */
import assert from "node:assert/strict";
import {cp} from "node:fs/promises";
import {createServer as createHttpServer} from "node:http";
import type {AddressInfo} from "node:net";
import {after, before, test} from "node:test";
import {setTimeout as pause} from "node:timers/promises";
import {gunzipSync} from "node:zlib";
import {WorkFolder} from "../support/chains/serviceChain.ts";
import {OwnService} from "../support/http/ownService.ts";
import {encodePost} from "../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, proofText} from "../support/http/wireRequests.ts";
import {ask, askPath, Edge, lacksHaproxy} from "../support/processes/edge.ts";
import {describeNeeding} from "../support/processes/notRun.ts";
import {LOOK_MS, once} from "../support/wait.ts";

/** In place of 2000 in 10 s. */
const LIMIT = 300;
const AT_ONCE = 50;

describeNeeding(lacksHaproxy(), "deploy/haproxy.cfg", () => {
  const folder = new WorkFolder();
  let edge: Edge;
  const services: OwnService[] = [];

  before(async () => {
    const db = await folder.importChain("db", 2, 2);
    await cp(db, folder.file("copy"), {recursive: true});
    for (const one of [db, folder.file("copy")])
      services.push(
        await OwnService.serve(["--db", one, "--log-level", "debug", "--trust-forwarded", "127.0.0.1"]),
      );
    edge = await startEdge(services.map(service => service.port));
  });

  after(async () => {
    await edge.stop();
    for (const service of services) await service.stop();
  });

  /** The blocks are from 2023, so all services are too old to be asked first. */
  function startEdge(ports: readonly number[]): Promise<Edge> {
    return Edge.before(folder, ports, [["gt 2000", `gt ${LIMIT}`]]);
  }

  test("HTTP/2 and gzip reach proofd, which sees the client's address and no forged one", async () => {
    const session = edge.openHttp2("127.0.0.7");
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

  test("CCIP-read reaches proofd by both methods", async () => {
    const session = edge.openHttp2("127.0.0.12");
    for (const answer of [
      await askPath(session, "/ccip/0x1/0x.json"),
      await ask(session, '{"sender":"0x1","data":"0x"}', {":path": "/ccip"}),
    ]) {
      assert.equal(answer.status, 400);
      assert.match(JSON.parse(answer.body.toString()).message, /sender/);
    }
    session.close();
  });

  test("requests that could be read in two ways, and paths for operators, do not reach proofd", async () => {
    const type = "Content-Type: application/json\r\n";
    const post = encodePost(CHAIN_CALL);
    const size = CHAIN_CALL.length.toString(16);
    const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\n${type}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${CHAIN_CALL}\r\n0\r\n\r\n`;
    const table: readonly (readonly [string, number])[] = [
      [post.replace(type, `${type}Content-Length: 1\r\n`), 400],
      [post.replace(type, `${type}: no name\r\n`), 400],
      [post.replace(type, `${type}Host: other.example\r\n`), 400],
      [post.replace(type, `${type}Transfer-Encoding: gzip, chunked\r\n`), 422],
      [chunked.replace(": chunked", ": \xffchunked"), 400],
      [post.replace("Length: ", "Length: \xff"), 400],
      [chunked.replace(CHAIN_CALL, `${CHAIN_CALL}XX`), 400],
      ["GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", 404],
      [post.replace(/Content-Length: \d+/, "Content-Length: 5242881"), 413],
    ];
    for (const [request, status] of table) {
      const socket = await edge.connect();
      socket.write(Buffer.from(request, "latin1"));
      const [answer] = await once(socket, "data");
      assert.match(String(answer), new RegExp(`^HTTP/1.1 ${status} `), request);
      socket.destroy();
    }
  });

  test("a client with too many requests is 429, and another one is answered", async () => {
    const session = edge.openHttp2("127.0.0.8");
    let last = await ask(session, CHAIN_CALL);
    // Many at once: one after the other, a busy machine may not reach the limit, which is a rate.
    for (let count = 1; count <= LIMIT && last.status === 200; count += AT_ONCE) {
      const answers = await Promise.all(Array.from({length: AT_ONCE}, () => ask(session, CHAIN_CALL)));
      last = answers.at(-1) ?? last;
    }
    assert.equal(last.status, 429);
    assert.equal(JSON.parse(last.body.toString()).error.code, -32005);
    session.close();
    const other = edge.openHttp2("127.0.0.9");
    assert.equal((await ask(other, CHAIN_CALL)).status, 200);
    other.close();
  });

  test("a service that stops loses no request: the other one answers", async () => {
    const session = edge.openHttp2("127.0.0.10");
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

  test("a request that one service is too busy for is sent once more, over HTTP/1.1 and HTTP/2", async () => {
    let tries = 0;
    const busy = createHttpServer((request, response) => {
      request.resume();
      if (request.method === "POST") tries++;
      response
        .writeHead(request.method === "POST" ? 503 : 200, {"content-type": "application/json"})
        .end("{}");
    }).listen(0, "127.0.0.1");
    await once(busy, "listening");
    const {port: busyPort} = busy.address() as AddressInfo;
    const edge = await startEdge([busyPort, busyPort]);
    try {
      const session = edge.openHttp2("127.0.0.11");
      assert.equal((await ask(session, pause(LOOK_MS, CHAIN_CALL))).status, 503);
      assert.equal(tries, 2);
      session.close();
      const socket = await edge.connect();
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
});
