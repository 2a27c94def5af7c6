/** HTTP over a real socket: what is refused, and clients that are odd, slow or in a hurry. */
import assert from "node:assert/strict";
import {after, before, describe, test} from "node:test";
import {COMMIT, VERSION} from "../../../server/version.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {encodePost, RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL, largeBatch, proofText} from "../../support/http/wireRequests.ts";
import {QUEUED_COST} from "../../support/processes/daemon.ts";
import {once} from "../../support/wait.ts";

const CHUNKED_HEAD =
  "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";

/** @returns the next answer's; 0 if the connection is closed without an answer */
async function readStatus(connection: RawConnection): Promise<number> {
  try {
    return (await connection.readAnswer()).status;
  } catch (error) {
    assert.match((error as Error).message, /^closed after 0 bytes/);
    return 0;
  }
}

describe("HTTP", () => {
  const folder = new WorkFolder();
  let db: string;
  let daemon: OwnService;

  before(async () => {
    db = await folder.importChain("db", 2, 2);
    daemon = await OwnService.start({db, limits: {bodyBytes: 100_000}});
  });

  after(() => daemon.stop());

  async function withConnection(use: (connection: RawConnection) => Promise<void>): Promise<void> {
    const connection = await RawConnection.open(daemon.port);
    try {
      await use(connection);
    } finally {
      connection.destroy();
    }
  }

  test("a wrong verb, path or type is refused with a JSON-RPC error, and the connection stays usable", async () => {
    const table: [string, number, Readonly<Record<string, string>>][] = [
      ["PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 405, {allow: "GET, HEAD, POST"}],
      [
        "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: https://app.example.org\r\n\r\n",
        405,
        {allow: "GET, HEAD, POST"},
      ],
      [encodePost(CHAIN_CALL, "Content-Encoding: identity, br\r\n"), 415, {"accept-encoding": "identity"}],
      ["POST /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 405, {allow: "GET, HEAD"}],
      ["POST /other HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 404, {}],
      ["GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", 404, {}],
      ["POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", 415, {}],
      [
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
        415,
        {},
      ],
      [
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json-rpcs\r\nContent-Length: 2\r\n\r\n{}",
        415,
        {},
      ],
    ];
    await withConnection(async connection => {
      for (const [request, status, headers] of table) {
        await connection.write(request);
        const answer = await connection.readAnswer();
        assert.equal(answer.status, status, request);
        for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers[name], value);
        assert.equal(answer.headers["content-type"], "application/json");
        assert.ok(!Object.keys(answer.headers).some(name => name.startsWith("access-control")), "no --cors");
        const {error, id} = JSON.parse(answer.body);
        assert.equal(id, null);
        assert.equal(error.code, -32600);
      }
      await connection.write(encodePost(CHAIN_CALL, "Content-Encoding: Identity\r\n"));
      assert.equal((await connection.readAnswer()).body, CHAIN_ANSWER);
    });
  });

  test("HEAD is answered without a body, on a connection that goes on", async () => {
    await withConnection(async connection => {
      const received: string[] = [];
      connection.socket.on("data", chunk => received.push(String(chunk)));
      for (const verb of ["HEAD", "GET"]) {
        const count = received.length;
        await connection.write(`${verb} /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`);
        while (received.length === count) await once(connection.socket, "data");
      }
      const [head, next, body] = received.join("").split("\r\n\r\n");
      assert.match(String(head), /^HTTP\/1.1 200 OK\r\n/);
      assert.match(String(head), /\r\nContent-Length: 3(\r\n|$)/);
      assert.match(String(next), /^HTTP\/1.1 200 OK\r\n/);
      assert.equal(body, "ok\n");
    });
  });

  test("the type may have parameters and any case, and the answer says its type and length", async () => {
    await withConnection(async connection => {
      for (const type of [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json ;x=y",
        "application/json-rpc",
        "Application/JsonRequest;charset=utf-8",
      ]) {
        const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${CHAIN_CALL.length}`;
        await connection.write(`${head}\r\n\r\n${CHAIN_CALL}`);
        const answer = await connection.readAnswer();
        assert.equal(answer.status, 200);
        assert.equal(answer.headers["content-type"], "application/json");
        assert.equal(answer.headers["content-length"], String(CHAIN_ANSWER.length));
      }
    });
  });

  test("a body of exactly the limit is read, one with a byte more is 413, declared or counted, and the connection goes on", async () => {
    const refused = 'proofd_bodies_refused_total{reason="too_large"}';
    const before = await daemon.readMetric(refused);
    await withConnection(async connection => {
      for (const length of [100_000, 100_001]) {
        const body = CHAIN_CALL.padEnd(length);
        const chunked = `${CHUNKED_HEAD}${length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
        for (const request of [encodePost(body), chunked]) {
          await connection.write(request);
          const answer = await connection.readAnswer();
          assert.equal(answer.status, length > 100_000 ? 413 : 200);
          if (length > 100_000) {
            const {code, data} = JSON.parse(answer.body).error;
            assert.deepEqual([code, data], [-32005, {limit: 100_000, got: 100_001}]);
          } else assert.equal(answer.body, CHAIN_ANSWER);
        }
      }
      await connection.write(CHUNKED_HEAD);
      for (let chunk = 0; chunk < 3; chunk++) await connection.write(`c350\r\n${"x".repeat(50_000)}\r\n`);
      await connection.write("0\r\n\r\n");
      assert.equal((await connection.readAnswer()).status, 413);
      await connection.write(encodePost(CHAIN_CALL));
      assert.equal((await connection.readAnswer()).body, CHAIN_ANSWER);
    });
    assert.equal(await daemon.readMetric(refused), before + 3);
  });

  test("chunked bodies are put together, also byte by byte", async () => {
    await withConnection(async connection => {
      const body = proofText(3, 2);
      await connection.write(CHUNKED_HEAD);
      for (const character of body) await connection.write(`1\r\n${character}\r\n`);
      await connection.write("0\r\n\r\n");
      assert.equal(JSON.parse((await connection.readAnswer()).body).id, 3);
      await connection.write(`${CHUNKED_HEAD}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
      assert.equal(JSON.parse((await connection.readAnswer()).body).id, 3);
    });
  });

  test("a body may come at once in 2064 pieces of one byte; with thousands more its connection is closed, at any path", async () => {
    let clients = 0;
    for (const count of [2064, 20_000])
      for (const path of ["/", "/none"]) {
        // What is left of the limit belongs to the client's address.
        const connection = await RawConnection.open(daemon.port, `127.0.2.${++clients}`);
        const head = CHUNKED_HEAD.replace("POST /", `POST ${path}`);
        await connection.write(`${head}${"1\r\n \r\n".repeat(count)}0\r\n\r\n`);
        if (count === 2064) assert.equal((await connection.readAnswer()).status, path === "/" ? 200 : 404);
        else assert.equal(await connection.readToClose(), "");
        connection.destroy();
      }
  });

  test("a body of a known length may have any number of lines", async () => {
    const body = CHAIN_CALL.padEnd(100_000, "\n");
    const head = `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await withConnection(async connection => {
      await connection.write(head + body);
      assert.equal((await connection.readAnswer()).status, 200);
    });
  });

  test("a refused body of more than 64 MiB beyond the limit loses its connection, at any path", async () => {
    const part = `100000\r\n${"x".repeat(1 << 20)}\r\n`;
    for (const path of ["/", "/none"])
      for (const mebibytes of [60, 80])
        await withConnection(async connection => {
          const head = CHUNKED_HEAD.replace("POST /", `POST ${path}`);
          await connection.write(`${head}${part.repeat(mebibytes)}0\r\n\r\n`).catch(() => {});
          if (mebibytes < 64) assert.equal((await connection.readAnswer()).status, path === "/" ? 413 : 404);
          else assert.equal(await connection.readToClose(), "");
        });
  });

  test("a request whose end two servers could read differently is 400, and its connection is closed", async () => {
    const type = "Content-Type: application/json";
    const length = `Content-Length: ${CHAIN_CALL.length}`;
    const chunked = `${CHAIN_CALL.length.toString(16)}\r\n${CHAIN_CALL}\r\n0\r\n\r\n`;
    const table: [readonly string[], string][] = [
      [[length, length], CHAIN_CALL],
      [[length, "Content-Length: 1"], CHAIN_CALL],
      [["Content-Length: 1", length], CHAIN_CALL],
      [["Content-Length: "], CHAIN_CALL],
      [["Content-Length: +49"], CHAIN_CALL],
      [[length.replace(": ", ": 0x")], CHAIN_CALL],
      [["Transfer-Encoding: chunked", length], chunked],
      [[length, "Transfer-Encoding: chunked"], chunked],
      [["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked],
      [["Transfer-Encoding: gzip, chunked"], chunked],
      [["Transfer-Encoding: xchunked"], chunked],
      [["Transfer-Encoding: chunked, identity"], chunked],
      [["Transfer-Encoding: "], chunked],
      [[": no name", length], CHAIN_CALL],
      [["Host: localhost", length], CHAIN_CALL],
      [["Host: other.example", length], CHAIN_CALL],
      [[], CHAIN_CALL],
    ];
    for (const [headers, body] of table)
      await withConnection(async connection => {
        const head = ["POST / HTTP/1.1", "Host: localhost", ...headers, type].join("\r\n");
        await connection.write(`${head}\r\n\r\n${body}`);
        const answers = (await connection.readToClose()).split("HTTP/1.1 ").slice(1);
        assert.deepEqual(
          answers.map(answer => answer.slice(0, 4)),
          ["400 "],
          headers.join("; "),
        );
      });
  });

  test("the libraries read malformed and rare requests differently, as this table says", async () => {
    const isNode = daemon.announcement.http === "node";
    const size = CHAIN_CALL.length.toString(16);
    const chunks = `${size}\r\n${CHAIN_CALL}\r\n0\r\n`;
    const post = encodePost(CHAIN_CALL);
    const probe = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";
    const hosted = (host: string) => `${probe.replace("localhost", host)}\r\n`;
    const coded = (coding: string) => CHUNKED_HEAD.replace("chunked", coding) + chunks;
    /** The parts come one after the other to uWebSockets.js. Statuses of node:http, then of uWebSockets.js; 0: closed without an answer. */
    const table: [readonly string[], readonly number[], readonly number[]][] = [
      [[post.replace("\r\n", "\r\nExpect: more\r\n")], [417], [200]],
      [[post.replace("HTTP/1.1", "HTTP/1.0")], [200], [505]],
      [[`GET http://localhost:1/healthz?x HTTP/1.1\r\nHost: other.example\r\n\r\n`], [200], [505]],
      [[`GET http://other.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n`], [421], [505]],
      [[post.replace("POST /", "POST http://localhost")], [200], [505]],
      [[post.replace("POST", "post")], [400], [400]],
      [[hosted("")], [400], [400]],

      // uWebSockets.js ends the headers at one without a name. If that hides a GET's length, it takes the body for a request.
      [[post.replace("Content-Length", ": x\r\nContent-Length")], [400], [400]],
      [[`${probe}: x\r\nContent-Length: ${probe.length + 2}\r\n\r\n`, `${probe}\r\n`], [400], [200, 200]],

      // uWebSockets.js drops bytes from 0x80 on at both ends of a value, as if they were spaces.
      [[`${coded("\xffchunked")}\r\n`], [400], [200]],
      [[`${coded("chunked\xff")}\r\n`], [400], [200]],
      [[`${coded("chu\xffnked")}\r\n`], [400], [400]],
      [[post.replace("Length: ", "Length: \xff")], [400], [200]],
      [[hosted("\xff")], [421], [400]],
      [[hosted("\xfflocalhost")], [421], [200]],
      [[hosted("local\xffhost")], [421], [421]],

      // uWebSockets.js takes a trailer for the next request, but for two bytes. One whose method is the rest of a name is seen.
      [[`${coded("chunked")}ge`, "t: /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"], [200], [200, 0]],
      [[`${coded("chunked")}ab`, ": /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"], [200], [200, 0]],
      [[`${coded("chunked")}X:`, " y\r\n\r\n"], [200], [200, 505]],
      [[`${coded("chunked")}x:`, `${probe}\r\n`], [200], [200, 200]],

      // uWebSockets.js does not look at what ends a chunk or its size.
      [[`${CHUNKED_HEAD}${size}\r\n${CHAIN_CALL}XX0\r\n\r\n`], [400], [200]],
      [[`${CHUNKED_HEAD}${size} \r\n${CHAIN_CALL}\r\n0\r\n\r\n`], [400], [200]],
      [[`${CHUNKED_HEAD}${size}\n${CHAIN_CALL}\n0\n\n`], [400], [200]],
      [[`${CHUNKED_HEAD}${size};a=b\r\n${CHAIN_CALL}\r\n0\r\n\r\n`], [200], [0]],
    ];
    for (const [parts, node, uws] of table)
      await withConnection(async connection => {
        const statuses: number[] = [];
        for (const part of isNode ? [parts.join("")] : parts) {
          await connection.write(Buffer.from(part, "latin1"));
          statuses.push(await readStatus(connection));
        }
        assert.deepEqual(statuses, isNode ? node : uws, JSON.stringify(parts));
      });
  });

  test("a slow writer gets its answer, and others are answered meanwhile", async () => {
    await withConnection(async connection => {
      const request = encodePost(proofText(5, 1));
      // This uWebSockets.js answers 505 where the request line itself comes in parts.
      let at = request.indexOf("\n") + 1;
      await connection.write(request.slice(0, at));
      for (let part = 0; at < request.length; part++, at += 9) {
        await connection.write(request.slice(at, at + 9));
        if (part % 10 === 0) assert.equal((await daemon.post(CHAIN_CALL)).text, CHAIN_ANSWER);
      }
      assert.equal(JSON.parse((await connection.readAnswer()).body).id, 5);
    });
  });

  test("a request pipelined behind any other ends that connection only, without half an answer", async () => {
    const probe = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    await withConnection(async other => {
      for (const first of [
        encodePost(proofText(1)),
        encodePost(CHAIN_CALL),
        probe,
        "GET /no HTTP/1.1\r\nHost: localhost\r\n\r\n",
      ]) {
        await withConnection(async connection => {
          await connection.write(first + encodePost(CHAIN_CALL));
          assert.equal(await connection.readToClose(), "");
        });
      }
      await other.write(encodePost(proofText(2)));
      assert.equal(JSON.parse((await other.readAnswer()).body).id, 2);
    });
  });

  test("a large batch is streamed in chunks and is the same as its calls one by one", async () => {
    const count = 12;
    await withConnection(async connection => {
      await connection.write(encodePost(largeBatch(count)));
      const answer = await connection.readAnswer();
      assert.equal(answer.headers["transfer-encoding"], "chunked");
      const singles = [];
      for (let id = 0; id < count; id++) singles.push((await daemon.post(proofText(id, 80))).text);
      assert.equal(answer.body, `[${singles.join(",")}]`);
      await connection.write(encodePost(CHAIN_CALL));
      assert.equal((await connection.readAnswer()).body, CHAIN_ANSWER);
    });
  });

  test("health, readiness and metrics are told", async () => {
    for (const path of ["/healthz", "/readyz"]) assert.equal((await fetch(daemon.url + path)).status, 200);
    const response = await fetch(`${daemon.url}/metrics`);
    assert.match(String(response.headers.get("content-type")), /^text\/plain/);
    const text = await response.text();
    for (const name of [
      'proofd_calls_total{method="chain_getProof",code="0"}',
      'proofd_request_duration_seconds_bucket{method="batch",le="1"}',
      `${QUEUED_COST} 0`,
      'proofd_queued_cost{lane="estimate"} 0',
      "proofd_worker_exits_total",
      "proofd_damaged_records_total",
      'proofd_head_block{which="finalized"} 2',
      'proofd_page_reads_total{from="store"}',
      'proofd_store_bytes{kind="page"}',
      'proofd_store_bytes{kind="log"}',
      `proofd_build_info{version="${VERSION}",commit="${COMMIT}",node="${process.version}",suite="sha256"} 1`,
      "proofd_import_failed 0",
      "process_resident_memory_bytes",
      "process_open_fds",
      "nodejs_eventloop_lag_p99_seconds",
    ])
      assert.ok(text.includes(`\n${name}`), name);
  });

  test("requests are not logged by default", () => {
    assert.equal(daemon.stderr, "");
  });
});
