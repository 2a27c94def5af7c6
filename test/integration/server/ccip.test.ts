/** CCIP-read at /ccip over real sockets: which requests are answered, with what status, and at what cost. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {encodeHex} from "../../../client/bytes/hex.ts";
import {createEvent, createStep} from "../../support/chains/finalityEvents.ts";
import {ACCOUNTS} from "../../support/chains/serviceChain.ts";
import {decodeResponse} from "../../support/contracts/ccipRead.ts";
import {FINALIZED, FrontService, FrontStore} from "../../support/http/frontService.ts";
import {encodePost, type RawAnswer} from "../../support/http/rawConnection.ts";

const APP = "https://app.example.org";
const SENDER = `0x${"5e".repeat(20)}`;
const ACCOUNT = ACCOUNTS[0] as string;
const SELECTOR = encodeHex(keccak_256(Buffer.from("proveSlots(address,bytes32[],uint256,bool)"))).slice(
  0,
  10,
);
const CALL =
  "call data of proveSlots\\(address account, bytes32\\[\\] slots, uint256 dynamic, bool isTrie\\) with 1 to 1999 slots";

let store: FrontStore;
let service: FrontService;
before(async () => {
  store = await FrontStore.create();
  service = await FrontService.start(await store.copy(), {}, {cors: [APP]});
});
after(() => service.stop());

/** Call data of words that are numbers, or hex of up to 32 bytes. */
function encodeData(...words: readonly (number | bigint | string)[]): string {
  return SELECTOR + words.map(one => BigInt(one).toString(16).padStart(64, "0")).join("");
}

/** Of that many slots, from 0 on. */
function askSlots(count: number, dynamic: number | bigint = 0, isTrie = 0): string {
  return encodeData(ACCOUNT, 0x80, dynamic, isTrie, count, ...Array.from({length: count}, (_, i) => i));
}

function get(data: string, sender = SENDER, headers = ""): Promise<RawAnswer> {
  return service.exchange(`GET /ccip/${sender}/${data}.json HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
}

function post(body: unknown, headers = ""): Promise<RawAnswer> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return service.exchange(encodePost(text, headers, "/ccip"));
}

test("both ways of asking give one proof of the slots, at the newest finalized block, which no cache keeps", async () => {
  const data = askSlots(3);
  const answer = await get(data);
  assert.deepEqual(
    [answer.status, answer.headers["content-type"], answer.headers["cache-control"]],
    [200, "application/json", "no-store"],
  );
  assert.equal((await post({sender: SENDER, data})).body, answer.body);
  assert.equal(
    (await post({data: data.toUpperCase().replace("0X", "0x"), sender: SENDER})).body,
    answer.body,
  );
  const [block, words, header, proof] = decodeResponse(JSON.parse(answer.body).data);
  assert.deepEqual([block, words, header], [BigInt(FINALIZED), [0n, 0n, 0n], "0x"]);
  const entries = [{address: ACCOUNT, storageKeys: ["0x0", "0x1", "0x2"]}];
  const call = {jsonrpc: "2.0", id: 1, method: "chain_getMultiProof", params: [entries, `0x${FINALIZED}`]};
  assert.equal(proof, JSON.parse(await service.ask(call)).result);
});

test("what is wrong with a request is said, with a status after which the client asks no other gateway", async () => {
  const data = askSlots(1);
  const table: [body: unknown, message: RegExp][] = [
    ["{", /^the body is not JSON$/],
    [[], /^sender: expected 20 bytes, 0x and 40 hex digits, got nothing$/],
    ["null", /^sender: expected 20 bytes/],
    [{data}, /^sender: expected 20 bytes, 0x and 40 hex digits, got nothing$/],
    [{data, sender: `${SENDER}00`}, /^sender: expected 20 bytes/],
    [{sender: SENDER}, new RegExp(`^data: expected ${CALL}, got nothing$`)],
    ...[
      7,
      "0x",
      "0x0",
      data.slice(2),
      data.slice(0, -2),
      `${data}00`,
      `${data}0g`,
      `0x00000000${data.slice(10)}`,
    ].map((bad): [unknown, RegExp] => [
      {sender: SENDER, data: bad},
      new RegExp(`^data: expected ${CALL}, got `),
    ]),
    ...[
      encodeData(`0x1${ACCOUNT.slice(2)}`, 0x80, 0, 0, 1, 0),
      encodeData(ACCOUNT, 0xa0, 0, 0, 1, 0),
      encodeData(ACCOUNT, 0x80, 0, 2, 1, 0),
      encodeData(ACCOUNT, 0x80, 0, 0, 2, 0),
      encodeData(ACCOUNT, 0x80, 0, 0, 2n ** 255n, 0),
      askSlots(0),
      askSlots(2000),
    ].map((bad): [unknown, RegExp] => [
      {sender: SENDER, data: bad},
      new RegExp(`^data: expected ${CALL}, got `),
    ]),
    [
      {sender: SENDER, data, more: Array(40_000).fill(0)},
      /^a body: expected at most 40000 members .*, got 40003$/,
    ],
    [{sender: SENDER, data: askSlots(2, 4)}, /^dynamic: expected a bit for each of the 2 slots, got "0x4"$/],
    [
      {sender: SENDER, data: askSlots(16, 0xffff)},
      /^the cost of the slots: expected at most 2000, 1 for the account, 1 for each slot, 128 more if it is dynamic, got 2065$/,
    ],
  ];
  for (const [body, message] of table) {
    const {status, ...answer} = await post(body);
    const name = JSON.stringify(body).slice(0, 300);
    assert.equal(status, 400, name);
    assert.deepEqual(Object.keys(JSON.parse(answer.body)), ["message"]);
    assert.match(JSON.parse(answer.body).message, message, name);
  }
  for (const path of [
    "/ccip",
    "/ccip/",
    "/ccip/x",
    `/ccip/${SENDER}/${data}`,
    `/ccip/${SENDER}/a/${data}.json`,
  ]) {
    const {status, body} = await service.exchange(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    assert.equal(status, 400, path);
    assert.match(body, /^{"message":"the path: expected \/ccip\/{sender}\/{data}\.json, got /);
  }
  assert.match((await get(`${data}00`)).body, /^{"message":"data: expected call data of proveSlots/);
  assert.match((await get(data, "0x12")).body, /^{"message":"sender: expected 20 bytes/);
  assert.equal((await get(askSlots(64))).status, 431, "its head is too long: POST takes it");
});

test("other statuses are those of JSON-RPC's requests, with the message alone", async () => {
  const data = askSlots(1);
  const table: [answer: Promise<RawAnswer>, status: number, body: RegExp][] = [
    [
      post({sender: SENDER, data: askSlots(1, 0, 1)}),
      501,
      /^{"message":"eth_getProof, .*Ethereum's state trie of block 4/,
    ],
    [
      service.exchange("PUT /ccip HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
      405,
      /^{"message":"expected GET, POST"}$/,
    ],
    [
      service.exchange("POST /ccip HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"),
      415,
      /^{"message":"expected Content-Type: application\/json"}$/,
    ],
    [
      post({sender: SENDER, data: " ".repeat(6 << 20)}),
      413,
      /^{"message":"the body may have at most 5242880 bytes"}$/,
    ],
    [
      service.exchange("POST /ccip/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"),
      405,
      /^{"message":"expected GET"}$/,
    ],
    [get(data, SENDER), 200, /^{"data":"0x/],
  ];
  for (const [answer, status, body] of table) {
    const got = await answer;
    assert.deepEqual([got.status, body.test(got.body)], [status, true], got.body.slice(0, 300));
  }
});

test("a request costs as much as its proof with the longest strings, waits for room in the queue, and is counted", async () => {
  const body = {sender: SENDER, data: askSlots(4, 3)};
  const limits = {requestCost: 1 + 4 + 2 * 128 - 1};
  await store.serve(async own => {
    const {status, body: text} = await own.exchange(encodePost(JSON.stringify(body), "", "/ccip"));
    assert.equal(status, 400);
    assert.match(text, /^{"message":"a request: expected at most 260 units of cost .*, got 261"}$/);
  }, limits);
  const busy = {queueCost: 0};
  await store.serve(async own => {
    const {status, body: text} = await own.exchange(encodePost(JSON.stringify(body), "", "/ccip"));
    assert.equal(status, 503);
    assert.match(text, /^{"message":"the queue of proofs and values is full: try again later"}$/);
  }, busy);
  const counted = 'proofd_calls_total{method="ccip",code="0"}';
  const before = await service.readMetric(counted);
  assert.equal((await post(body)).status, 200);
  assert.equal(await service.readMetric(counted), before + 1);
});

test("web pages of allowed origins may ask, by both ways", async () => {
  const origin = `Origin: ${APP}\r\n`;
  const preflight = await service.exchange(
    `OPTIONS /ccip HTTP/1.1\r\nHost: localhost\r\n${origin}Access-Control-Request-Method: POST\r\n\r\n`,
  );
  assert.equal(preflight.status, 204);
  for (const {headers} of [preflight, await get(askSlots(1), SENDER, origin), await post("{}", origin)])
    assert.equal(headers["access-control-allow-origin"], APP);
});

test("the block is the end of the newest finalization, whose root layer 1 knows, although later ones are finalized", async () => {
  await store.serve(async own => {
    await own.engine.writes.recordFinality(createStep(100, createEvent(1, 2, 60), createEvent(3, 3, 61)));
    const {body} = await own.exchange(
      `GET /ccip/${SENDER}/${askSlots(1)}.json HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    );
    assert.equal(decodeResponse(JSON.parse(body).data)[0], 3n);
  });
});
