/**
 * How long another client's request waits while 64 connections of one address give the main thread as much to do as they can. Counted
 * in processor time of the main thread, from the bytes of the request to those of its answer, so other processes do not matter.
 * The clients are in threads of their own.
 */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {Worker} from "node:worker_threads";
import {ACCOUNTS} from "../../support/chains/serviceChain.ts";
import type {ClientThread} from "../../support/http/clientThread.ts";
import {FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost} from "../../support/http/rawConnection.ts";
import {sampleOf} from "../../support/soak.ts";
import {once, waitUntil} from "../../support/wait.ts";

const CONNECTIONS = 64;
const MAX_MS = 10;
/**
 * uWebSockets.js reads all that the kernel has of a body in one event, 5 MB in 0.6 ms, and each connection may have one in a turn of the
 * event loop: many have, where this thread had to wait for a processor.
 */
const MAX_LONG_MS = 20;
const LONG_BYTES = 2 ** 20;
const ASKS = 15;
/** What else a machine does can only add to a wait: the least of so many series is the service's own. */
const SERIES = 20;
/** On a busy machine, some answers are read late, and the main thread works on meanwhile. */
const READ_LATE = 2;
const HONEST = {
  request: encodePost('{"jsonrpc":"2.0","id":1,"method":"chain_getStateRoot"}'),
  connections: 1,
  address: "127.0.0.1",
};

let store: FrontStore;
let service: FrontService;

before(async () => {
  store = await FrontStore.create();
  service = await FrontService.start(await store.copy(), {});
});

after(() => service.stop());

function startClients(clients: Omit<ClientThread, "port">): Worker {
  const file = new URL("../../support/http/clientThread.js", import.meta.url);
  return new Worker(file, {workerData: {port: service.port, ...clients}});
}

for (const [title, request] of sampleOf(Object.entries(createRequests()), 2)) {
  const mostMs = request.length > LONG_BYTES ? MAX_LONG_MS : MAX_MS;
  test(`another client waits at most ${mostMs} ms of the main thread beside 64 connections with ${title}`, async t => {
    const answered = new Int32Array(new SharedArrayBuffer(4));
    const attackers = startClients({request, connections: CONNECTIONS, address: "127.0.0.2", answered});
    const waitForAnswers = (count: number) =>
      waitUntil("answers for the attackers", () => Atomics.load(answered, 0) >= count);
    await waitForAnswers(1);
    let longestMs = Number.POSITIVE_INFINITY;
    for (let series = 0; series < SERIES && longestMs > mostMs; series++) {
      const [waits] = (await once(startClients({...HONEST, answered, asks: ASKS}), "message")) as [number[]];
      waits.sort((a, b) => a - b);
      t.diagnostic(waits.map(ms => ms.toFixed(1)).join(" "));
      longestMs = Math.min(longestMs, waits.at(-1 - READ_LATE) as number);
    }
    // A body that is read on in turns must come to its end.
    await waitForAnswers(title.startsWith("bodies") ? CONNECTIONS : ASKS);
    await attackers.terminate();
    // What they leave behind must not count for the next test.
    const isAlone = async () => (await service.readMetric("proofd_connections")) === 0;
    await waitUntil("the end of their connections", isAlone);
    assert.ok(longestMs <= mostMs, `it waited ${longestMs} ms`);
  });
}

function call(method: string, params: string, more = ""): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}${more}}`;
}

function batch(count: number, text: string | ((at: number) => string)): string {
  return encodePost(
    `[${Array.from({length: count}, (_, at) => (typeof text === "string" ? text : text(at))).join()}]`,
  );
}

function many(count: number, create: (at: number) => string): string {
  return Array.from({length: count}, (_, at) => create(at)).join();
}

function createRequests(): Readonly<Record<string, string>> {
  const long = "x".repeat(5 * 2 ** 20 - 200);
  const block = '["earliest"]';
  const word = (at: number) => `0x${(at + 1).toString(16).padStart(64, "1")}`;
  const account = ACCOUNTS[0] as string;
  const chunked = encodePost("").replace("Content-Length: 0", "Transfer-Encoding: chunked");
  return {
    "batches of 1000 chain_getStateRoot": batch(1000, call("chain_getStateRoot", block)),
    "bodies of 5 MB with one character that is not ASCII": encodePost(
      call("chain_chainId", "[]", `,"x":"é${long}"`),
    ),
    "bodies of 5 MB of spaces": encodePost(call("chain_chainId", "[]", " ".repeat(long.length))),
    "objects of new shapes in a field that is ignored": encodePost(
      call("chain_chainId", "[]", `,"x":[${many(8900, at => `{"k${at}":1}`)}]`),
    ),
    "batches of 100 rpc.discover": batch(100, call("rpc.discover", "[]")),
    "batches of 39 chain_getCodes": batch(
      39,
      call("chain_getCodes", `[[${many(256, at => `"${word(at)}"`)}]]`),
    ),
    "batches of 10 chain_getHeader": batch(10, call("chain_getHeader", block)),
    "batches of 1000 calls that are refused": batch(1000, at => call(`chain_${at}`, "[]")),
    "batches of 1001 calls": batch(1001, call("chain_chainId", "[]")),
    "batches of 1000 proofs that cost too much": batch(1000, at =>
      call("chain_getProof", `["${account}",[${many(38, key => `"${word(at * 38 + key)}"`)}],"latest"]`),
    ),
    "requests of an unknown path": "GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "bodies of 5 MB that are refused": encodePost(long).replace("POST /", "POST /none"),
    preflights: "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://page.example\r\n\r\n",
    "chunks of 1 byte": `${chunked}${"1\r\nx\r\n".repeat(5000)}0\r\n\r\n`,
    "pipelines of GET /metrics": "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(10_000),
    "GET for proofs": `GET /v1/proof/0x1/${account}?slots=0x1 HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  };
}
