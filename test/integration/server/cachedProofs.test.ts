/** GET of proofs that caches may keep, /readyz for a balancer, and what a balanced service answers for a block that is not here yet. */
import assert from "node:assert/strict";
import {createHash} from "node:crypto";
import {after, before, test} from "node:test";
import {ACCOUNTS} from "../../support/chains/serviceChain.ts";
import type {Answer} from "../../support/http/jsonrpcAnswer.ts";
import type {OwnService} from "../../support/http/ownService.ts";
import {FINALIZED, LATEST, ProvenService} from "../../support/http/provenService.ts";
import {proofCall} from "../../support/http/wireRequests.ts";

const ONE = ACCOUNTS[0] as string;
const KEEP = "public, max-age=3600";
const AHEAD = `0x${(LATEST + 1).toString(16)}`;
const UNFINALIZED = `0x${(FINALIZED + 1).toString(16)}`;

let service: ProvenService;
let daemon: OwnService;

before(async () => {
  service = await ProvenService.start("--balanced");
  daemon = service.daemon;
});

after(() => service.stop());

async function get(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${daemon.url}${path}`, {headers});
  const body = Buffer.from(await response.arrayBuffer());
  return {status: response.status, body, headers: response.headers};
}

async function post(body: unknown): Promise<{status: number; headers: Headers; answer: Answer}> {
  const response = await fetch(daemon.url, {
    method: "POST",
    headers: {"content-type": "application/json"},
    body: JSON.stringify(body),
  });
  return {status: response.status, headers: response.headers, answer: (await response.json()) as Answer};
}

function digestOf(address: string, ...slots: readonly string[]): string {
  const words = slots.map(slot => slot.slice(2).padStart(64, "0"));
  return createHash("sha256")
    .update(Buffer.from(address.slice(2) + words.join(""), "hex"))
    .digest("hex");
}

function rootOf(block: number): string {
  return Buffer.from(service.root(block)).toString("hex");
}

test("a proof by GET is the answer of chain_getProofAt, to be kept for an hour under its root and keys", async () => {
  const {status, body, headers} = await get(`/v1/proof/0x2/${ONE}?slots=0x1,0x02`);
  assert.equal(status, 200);
  const call = {jsonrpc: "2.0", id: 0, method: "chain_getProofAt", params: [ONE, ["0x1", "0x2"], "0x2"]};
  assert.equal(String(body), (await daemon.post(JSON.stringify(call))).text);
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(headers.get("cache-control"), KEEP);
  assert.equal(headers.get("etag"), `"${rootOf(2)}-${digestOf(ONE, "0x1", "0x2")}"`);
  assert.deepEqual((await get(`/v1/proof/0x2/${ONE}?slots=0x1%2C0x02`)).body, body);
});

test("who has the proof already is told so, and nothing is proved", async () => {
  const path = `/v1/proof/0x3/${ONE}`;
  const {headers} = await get(path);
  const tag = String(headers.get("etag"));
  const proved = 'proofd_proved_total{kind="account"}';
  const before = await daemon.readMetric(proved);
  const again = await get(path, {"if-none-match": `"other", W/${tag}`});
  assert.equal(again.status, 304);
  assert.equal(again.body.length, 0);
  assert.equal(again.headers.get("etag"), tag);
  assert.equal(await daemon.readMetric(proved), before);
  assert.equal((await get(path, {"if-none-match": '"other"'})).status, 200);
  assert.equal(await daemon.readMetric(proved), before + 1);
});

test("what cannot be proved has the status that caches and balancers need, and is not kept", async () => {
  const table: [path: string, status: number, code: number, RegExp][] = [
    [`/v1/proof/${AHEAD}/${ONE}`, 503, -32001, /block 0x7 is not in the store/],
    [`/v1/proof/${UNFINALIZED}/${ONE}`, 503, -32002, /block 0x5 is not finalized/],
    [`/v1/proof/0xffffff/${ONE}`, 404, -32001, /block 0xffffff is not in the store/],
    [
      `/v1/proof/latest/${ONE}`,
      400,
      -32602,
      /block: expected a 0x block number without leading zeros, got "latest"/,
    ],
    [
      `/v1/proof/0x${"0".repeat(63)}2/${ONE}`,
      400,
      -32602,
      /block: expected a 0x block number without leading zeros, got "0x00/,
    ],
    ["/v1/proof/0x2/0x12", 400, -32602, /address: expected 20 bytes/],
    [`/v1/proof/0x2/${ONE}?slots=0x1,`, 400, -32602, /slot: expected 0x and 1 to 64 hex digits, got ""/],
    [
      `/v1/proof/0x2/${ONE}?slot=0x1`,
      400,
      -32602,
      /the query: expected slots=..., and nothing else, got "slot=0x1"/,
    ],
    [`/v1/proof/0x2/${ONE}?slots=0x1=0x2`, 400, -32602, /the query: expected slots=/],
    ["/v1/proof/0x2", 400, -32602, /the path: expected \/v1\/proof/],
  ];
  for (const [path, status, code, message] of table) {
    const {body, headers, ...answer} = await get(path);
    assert.equal(answer.status, status, path);
    const {error} = JSON.parse(String(body));
    assert.equal(error.code, code, path);
    assert.match(error.message, message);
    // A 503 is kept by no cache (RFC 9111, section 3).
    if (status !== 503) assert.equal(headers.get("cache-control"), "no-store", path);
    assert.equal(headers.get("x-proofd-head"), status === 503 ? `0x${LATEST}` : null);
    assert.equal(headers.get("retry-after"), status === 503 ? "1" : null);
  }
  assert.equal((await get("/v1/other/0x2")).status, 404);
  assert.equal((await fetch(`${daemon.url}/v1/proof/0x2/${ONE}`, {method: "HEAD"})).status, 405);
});

test("a balanced service turns away a request with a block that is not here yet, so that another is asked", async () => {
  for (const block of [AHEAD, UNFINALIZED, {blockHash: `0x${"ab".repeat(32)}`}]) {
    const {status, headers, answer} = await post(proofCall(7, ONE, [], block as string));
    assert.equal(status, 503);
    assert.equal(headers.get("retry-after"), "1");
    assert.equal(headers.get("x-proofd-head"), `0x${LATEST}`);
    assert.equal(answer.id, 7);
    assert.match(answer.error?.message ?? "", /is not in the store|is not finalized/);
  }
  const block = (selector: string) => {
    const params = [selector, false];
    return post({jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params});
  };
  assert.equal((await block(AHEAD)).status, 503);
  assert.equal((await block("0xffffffff")).answer.result, null);
  const chainId = {jsonrpc: "2.0", id: 3, method: "chain_chainId"};
  const unknown = {jsonrpc: "2.0", id: 4, method: "chain_nothing"};
  const counts = async () =>
    (await daemon.get("/metrics")).text
      .split("\n")
      .filter(line => /^proofd_calls_total\{method="(chain_chainId|unknown)"/.test(line));
  const before = await counts();
  const batch = [chainId, unknown, proofCall(1, ONE, [], "0x2"), proofCall(2, ONE, [], AHEAD)];
  assert.equal((await post(batch)).status, 503);
  assert.deepEqual(await counts(), before, "no call of the batch was answered");
  const state = {jsonrpc: "2.0", id: 1, method: "chain_getStateRoot", params: [AHEAD]};
  assert.equal((await post(state)).status, 503);
  const never = await post(proofCall(1, ONE, [], "0xffffffff"));
  assert.equal(never.status, 200);
  assert.equal(never.answer.error?.code, -32001);
});

test("/readyz tells whether a block can be proved and whether the newest one is young enough", async () => {
  const table: [query: string, status: number, RegExp][] = [
    [`block=0x${FINALIZED}`, 200, /^ready\n/],
    [
      `block=${UNFINALIZED}`,
      503,
      /^block 5 cannot be proved here: the newest finalized block is 4, the earliest block 0\n/,
    ],
    ["lag=1", 503, /^the newest block, 6, is \d+ s old: asked for at most 1 s\n/],
    ["lag=999999999&block=0x0", 200, /^ready\n/],
    ["lag=0", 400, /^expected no query, block=0x../],
    [`block=0x${"0".repeat(64)}`, 400, /^expected no query, block=0x../],
    ["blocks=0x1", 400, /^expected no query/],
    ["block=0x1&block=0x2", 400, /^expected no query/],
  ];
  for (const [query, status, text] of table) {
    const answer = await daemon.get(`/readyz?${query}`);
    assert.equal(answer.status, status, query);
    assert.match(answer.text, text);
  }
});
