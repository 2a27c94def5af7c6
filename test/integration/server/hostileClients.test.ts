/** Clients that take more than their share of the front: of its main thread, its memory for bodies and its connections. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost, type RawAnswer, RawConnection} from "../../support/http/rawConnection.ts";
import {CHAIN_ANSWER, CHAIN_CALL} from "../../support/http/wireRequests.ts";
import {waitUntil} from "../../support/wait.ts";

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

let store: FrontStore;
let service: FrontService;

before(async () => {
  store = await FrontStore.create();
  service = await FrontService.start(await store.copy(), {});
});

after(() => service.stop());

async function requireAnswer(service: FrontService): Promise<void> {
  assert.equal(await service.ask(JSON.parse(CHAIN_CALL)), CHAIN_ANSWER);
}

test("thousands of requests in one write end their connection, and /metrics is made once for many readers", async t => {
  const read = t.mock.method(service.front.metrics, "read");
  for (const path of ["/metrics", "/healthz", "/none"]) {
    const connection = await RawConnection.open(service.port);
    await connection.write(GET(path).repeat(16_000)).catch(() => {});
    const answers = (await connection.readToClose()).split("HTTP/1.1 ").length - 1;
    assert.ok(answers <= 1, `${answers} answers at ${path}`);
  }
  assert.ok(read.mock.callCount() <= 1, `${read.mock.callCount()} computations`);
  await requireAnswer(service);
  const readers = await Promise.all(Array.from({length: 50}, () => RawConnection.open(service.port)));
  const before = read.mock.callCount();
  for (const reader of readers) await reader.write(GET("/metrics"));
  for (const reader of readers) {
    const {status, body} = await reader.readAnswer();
    assert.equal(status, 200);
    assert.match(body, /\nproofd_connections \d+\n/);
    reader.destroy();
  }
  assert.ok(read.mock.callCount() - before < readers.length / 2, `${read.mock.callCount()} computations`);
});

test("an answer that its reader does not take counts among the held bytes, also that of a probe", async t => {
  const {metrics} = service.front;
  const read = metrics.read.bind(metrics);
  t.mock.method(metrics, "read", async () => ({type: "text/plain", text: "x".repeat(20e6)}));
  const isHeld = async () => !(await read()).text.includes("\nproofd_held_bytes 0\n");
  const reader = await RawConnection.open(service.port);
  reader.socket.pause();
  await reader.write(GET("/metrics"));
  await waitUntil("held bytes", isHeld);
  reader.destroy();
  await waitUntil("no held bytes", async () => !(await isHeld()));
});

/** Of warnings that connections are refused, at least. */
const WARN_EVERY_MS = 10_000;
const MIB = 2 ** 20;
/** Of a request whose body has 1 MiB. */
const MIB_HEAD = encodePost("x".repeat(MIB)).slice(0, -MIB);
const MIB_CALL = encodePost(CHAIN_CALL.padEnd(MIB));

/** Sends a call of 1 MiB in two parts, which is answered. */
async function callInParts(service: FrontService, address: string): Promise<void> {
  const other = await RawConnection.open(service.port, address);
  await other.write(MIB_CALL.slice(0, -10));
  await other.write(MIB_CALL.slice(-10));
  assert.equal((await other.readAnswer()).body, CHAIN_ANSWER);
  other.destroy();
}

/** Sends the last byte of each body. @returns the answers to those that were refused */
async function finishBodies(connections: readonly RawConnection[]): Promise<RawAnswer[]> {
  const answers: RawAnswer[] = [];
  for (const connection of connections) {
    await connection.write("x");
    answers.push(await connection.readAnswer());
    connection.destroy();
  }
  return answers.filter(({status}) => status === 503);
}

test("bodies of four clients fill the room for bodies, and the newest of them gives way to another client's", async () => {
  await store.serve(
    async service => {
      const held: RawConnection[] = [];
      for (let client = 2; client < 6; client++)
        for (let at = 0; at < 2; at++) {
          const connection = await RawConnection.open(service.port, `127.0.0.${client}`);
          held.push(connection);
          await connection.write(MIB_HEAD + "x".repeat(MIB - 1));
          await waitUntil("the body", () => connection.socket.bytesWritten > MIB);
        }
      for (let asked = 0; asked < 3; asked++) await callInParts(service, "127.0.0.7");
      assert.equal((await finishBodies(held)).length, 1);
    },
    {bodyBytes: MIB, bodyBytesTotal: 8 * MIB},
  );
});

test("bodies that do not end take a share of the room for bodies, and another client's are received", async () => {
  await store.serve(
    async service => {
      const slow = await Promise.all(Array.from({length: 8}, () => RawConnection.open(service.port)));
      for (const connection of slow) await connection.write(MIB_HEAD + "x".repeat(MIB - 1));
      const noRoom = 'proofd_bodies_refused_total{reason="no_room"}';
      await waitUntil("six refusals", async () => (await service.readMetric(noRoom)) >= 6);
      await callInParts(service, "127.0.0.2");
      const refused = await finishBodies(slow);
      assert.equal(refused.length, 6);
      for (const {status, body} of refused) {
        const {error} = JSON.parse(body);
        assert.deepEqual([status, error.code], [503, -32005]);
        assert.deepEqual(error.data, {limit: 2 * MIB, got: error.data.got});
        assert.ok(error.data.got > 2 * MIB);
      }
      // What those held who have gone is free again.
      await waitUntil("room", async () => {
        const {status} = await service.exchange(MIB_CALL);
        return status === 200;
      });
    },
    {bodyBytes: MIB, bodyBytesTotal: 8 * MIB},
  );
});

test("a connection whose body was read in turns takes the next request", async () => {
  const request = Buffer.from(encodePost(CHAIN_CALL + " ".repeat(3 * 2 ** 20)));
  await Promise.all(
    Array.from({length: 8}, async () => {
      const connection = await RawConnection.open(service.port);
      for (let round = 0; round < 3; round++) {
        await connection.write(request);
        assert.equal((await connection.readAnswer()).body, CHAIN_ANSWER);
      }
      connection.destroy();
    }),
  );
});

test("bodies in small chunks that come together are answered, beside others of their client", async () => {
  const call = `${CHAIN_CALL.length.toString(16)}\r\n${CHAIN_CALL}\r\n0\r\n\r\n`;
  const head = encodePost("").replace("Content-Length: 0", "Transfer-Encoding: chunked");
  const answers = Array.from({length: 32}, async () => {
    const connection = await RawConnection.open(service.port);
    await connection.write(head + "1\r\n \r\n".repeat(60) + call);
    const {body} = await connection.readAnswer();
    connection.destroy();
    return body;
  });
  assert.deepEqual(new Set(await Promise.all(answers)), new Set([CHAIN_ANSWER]));
});

test("connections beyond the limits are refused with 503, logged and counted, and others are served", async () => {
  /** Those that are not refused, of so many. @param reason - what the others are told */
  async function open(
    port: number,
    count: number,
    address: string,
    reason?: RegExp,
  ): Promise<RawConnection[]> {
    const all = await Promise.all(Array.from({length: count}, () => RawConnection.open(port, address)));
    const answers = await Promise.all(
      all.map(async connection => {
        await connection.write(encodePost(CHAIN_CALL));
        return connection.readAnswer();
      }),
    );
    return all.filter((connection, at) => {
      const {status, headers, body} = answers[at] as RawAnswer;
      if (status === 200) return true;
      assert.equal(status, 503);
      assert.equal(headers["retry-after"], "1");
      assert.match(JSON.parse(body).error.message, reason ?? /never/);
      connection.destroy();
      return false;
    });
  }
  const ofOne = /^too many connections of one client are open: try again later$/;
  await store.serve(
    async service => {
      const {port, logged} = service;
      const startMs = performance.now();
      const readRefused = (reason: string) =>
        service.readMetric(`proofd_connections_refused_total{reason="${reason}"}`);
      const first = await open(port, 20, "127.0.0.2", ofOne);
      assert.equal(first.length, 15, "an eighth");
      assert.equal(await readRefused("client"), 5);
      const proxy = await open(port, 40, "127.0.0.9");
      assert.equal(proxy.length, 40);
      for (const connection of first.splice(0, 10)) connection.destroy();
      await waitUntil(
        "fewer connections",
        async () => (await service.readMetric("proofd_connections")) === 45,
      );
      // Those that have closed do not count, at the latest when they are counted again.
      await waitUntil("a connection", async () => (await open(port, 1, "127.0.0.2", ofOne)).length === 1);
      assert.equal((await open(port, 20, "127.0.0.2", ofOne)).length, 9);
      for (const address of ["127.0.0.3", "127.0.0.4"])
        assert.equal((await open(port, 20, address, ofOne)).length, 15);
      assert.equal((await open(port, 20, "127.0.0.5", ofOne)).length, 8, "above three quarters of all");
      const total = /^too many connections are open: try again later$/;
      assert.equal((await open(port, 40, "127.0.0.9", total)).length, 120 - 93);
      assert.equal(await readRefused("total"), 13);
      const {length: warned} = logged.filter(line => line.includes("new connections are refused"));
      const most = 1 + (performance.now() - startMs) / WARN_EVERY_MS;
      assert.ok(warned >= 1 && warned <= most, `${warned} warnings`);
      for (const connection of proxy) connection.destroy();
      await waitUntil("room", async () => (await service.readMetric("proofd_connections")) < 120);
      assert.equal((await open(port, 1, "127.0.0.6")).length, 1);
    },
    {},
    {maxConnections: 120, trustForwarded: ["127.0.0.9"]},
  );
});

test("a request by a name that is not this server's is 421 at every path", async () => {
  const withHost = (path: string, host: string) =>
    (path === "/" ? encodePost(CHAIN_CALL) : GET(path)).replace("Host: localhost", `Host: ${host}`);
  assert.equal(
    (await service.exchange(GET("/").replace("localhost", "rebound.example"))).status,
    421,
    "the page",
  );
  for (const path of ["/", "/metrics", "/readyz"]) {
    assert.equal((await service.exchange(withHost(path, "127.0.0.1:1"))).status, 200);
    const {status, body} = await service.exchange(withHost(path, "rebound.example"));
    assert.equal(status, 421);
    const message =
      'expected a Host header with an address, localhost or a name of --allow-host, got "rebound.example"';
    assert.deepEqual(JSON.parse(body).error, {code: -32600, message});
  }
});
