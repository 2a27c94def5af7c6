/** Slots that no block has written since a slice began: asked of the node's head, stored, and proved as of their block. */
import assert from "node:assert/strict";
import {mkdtemp, rm} from "node:fs/promises";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {afterEach, beforeEach, test} from "node:test";
import {keccak_256} from "@noble/hashes/sha3.js";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import {verifyEthMultiProof} from "../../../client/trie/ethMultiProof.ts";
import type {Limits} from "../../../server/limits.ts";
import {SlotFetcher} from "../../../server/slices/slotFetcher.ts";
import {decodeResponse, encodeQuestion} from "../../support/contracts/ccipRead.ts";
import {FrontService} from "../../support/http/frontService.ts";
import {encodePost} from "../../support/http/rawConnection.ts";
import {JsonRpcServer} from "../../support/nodes/jsonRpcServer.ts";
import {CONTRACT, SliceChain, slotText} from "../../support/stores/sliceChain.ts";
import {waitUntil} from "../../support/wait.ts";

const SLOTS = 300;
/** Blocks 1 to 3. No block writes slots from 10 on. */
const BLOCKS = [{1: 7}, {2: 0, 3: 9}, {1: 8, [SLOTS + 5]: 1}].map(
  slots => new Map(Object.entries(slots).map(([slot, value]) => [Number(slot), value])),
);
const LATEST = BLOCKS.length;

interface Answer {
  readonly id: number;
  readonly result?: {
    readonly storageProof: readonly {readonly key: string; readonly proof: readonly string[]}[];
  };
  readonly error?: {readonly code: number; readonly message: string};
}

let folder: string;
let chain: SliceChain;
let node: JsonRpcServer;
let requests: number;
let lies: boolean;
/** The node's answers wait for it. */
let held: Promise<void> | undefined;
let service: FrontService | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "proofd-slots-"));
  chain = new SliceChain(new Map(Array.from({length: SLOTS}, (_, slot) => [slot, slot + 1])));
  await chain.fill(join(folder, "db"), BLOCKS);
  requests = 0;
  lies = false;
  held = undefined;
  node = new JsonRpcServer(async ({id, params}) => {
    requests++;
    await held;
    const asked = params[1] as string[];
    const wrong = {...chain.prove([]), storageProof: asked.map(() => ({proof: ["0xc22080", "0xf8518080"]}))};
    return {jsonrpc: "2.0", id, result: lies ? wrong : chain.prove(asked)};
  });
  await node.start();
});

afterEach(async () => {
  await service?.stop();
  service = undefined;
  await node.stop();
  await rm(folder, {recursive: true});
});

async function serve(isFollowing = true, limits: Partial<Limits> = {}): Promise<FrontService> {
  await service?.stop();
  const settings = {urls: [node.url], headers: {}, timeoutMs: 1, maxAnswerBytes: 1};
  service = await FrontService.start(join(folder, "db"), limits, {}, 1, (engine, log) =>
    isFollowing ? new SlotFetcher(settings, 20, slots => engine.writes.keepSlots(slots), log) : undefined,
  );
  return service;
}

function call(slots: readonly number[], block: number, id = 1): object {
  const params = [CONTRACT, slots.map(slotText), `0x${block.toString(16)}`];
  return {jsonrpc: "2.0", id, method: "eth_getProof", params};
}

async function ask<Asked extends object>(
  body: Asked,
): Promise<Asked extends readonly unknown[] ? Answer[] : Answer> {
  return JSON.parse(await (service as FrontService).ask(body));
}

function proofsOf({result, error}: Answer): readonly (readonly string[])[] {
  assert.equal(error, undefined);
  return result?.storageProof.map(({proof}) => proof) ?? [];
}

/** At each block, as a node that has all of them answers. */
function proveAll(slots: readonly number[]): (readonly (readonly string[])[])[] {
  const archive = new SliceChain(new Map(Array.from({length: SLOTS}, (_, slot) => [slot, slot + 1])));
  return [new Map<number, number>(), ...BLOCKS].map(writes => {
    archive.write(writes);
    return archive.prove(slots.map(slotText)).storageProof.map(({proof}) => proof);
  });
}

test("slots are proved at every block as an archive node does, present or absent, each asked for once", async () => {
  await serve();
  const slots = [1, 2, 10, 11, 12, 200, SLOTS + 50];
  const expected = proveAll(slots);
  for (let block = LATEST; block >= 0; block--)
    assert.deepEqual(proofsOf(await ask(call(slots, block))), expected[block]);
  const asked = requests;
  assert.ok(asked >= 1 && asked <= LATEST + 1);
  for (let block = 0; block <= LATEST; block++)
    assert.deepEqual(proofsOf(await ask(call(slots, block))), expected[block]);
  assert.equal(requests, asked);
  assert.equal(await service?.readMetric('proofd_slice_fetches_total{outcome="answered"}'), asked);
});

test("a restarted service proves without its node what was fetched", async () => {
  await serve();
  const [expected] = proveAll([20, 21]);
  assert.deepEqual(proofsOf(await ask(call([20, 21], 0))), expected);
  await serve(false);
  assert.deepEqual(proofsOf(await ask(call([20, 21], 0))), expected);
});

test("the calls of a batch share one request, and those that lack nothing are answered with them", async () => {
  await serve();
  const answers = await ask([
    call([1], 3, 1),
    call([30], 3, 2),
    call([31, 32], 3, 3),
    {...call([], 3, 4), method: "x"},
  ]);
  const expected = proveAll([1, 30, 31, 32])[3] ?? [];
  assert.deepEqual(
    answers.map(({id}) => id),
    [1, 2, 3, 4],
  );
  assert.deepEqual(answers.slice(0, 3).flatMap(proofsOf), expected);
  assert.equal(answers[3]?.error?.code, -32601);
  assert.equal(requests, 1);
});

test("CCIP-read fetches the slot of a string, then that of its content", async () => {
  await serve();
  // Its value is 65: a string of 32 bytes.
  const slot = encodeHex(word(64));
  const data = encodeQuestion(CONTRACT, [slot, encodeHex(word(70))], 1n, true);
  const body = JSON.stringify({sender: CONTRACT, data});
  const answer = await (service as FrontService).exchange(encodePost(body, "", "/ccip"));
  assert.equal(answer.status, 200, answer.body);
  const [block, words, , proof] = decodeResponse(JSON.parse(answer.body).data);
  assert.deepEqual([block, words, requests], [BigInt(LATEST), [1n, 0n], 2]);
  const storageKeys = [64n, 70n, BigInt(encodeHex(keccak_256(word(64))))].map(key => `0x${key.toString(16)}`);
  const {result} = JSON.parse(
    await (service as FrontService).ask({
      jsonrpc: "2.0",
      id: 1,
      method: "chain_getStateRoot",
      params: ["0x3"],
    }),
  );
  const [proven] = verifyEthMultiProof(
    decodeHex(result.stateRoot),
    [{address: CONTRACT, storageKeys}],
    proof,
  );
  assert.deepEqual(proven?.slots, [65n, 71n, undefined]);
});

test("a slot's value is fetched as its proof is, and an account and its code are read without the node", async () => {
  await serve();
  const read = (method: string, ...params: readonly string[]) =>
    ask({jsonrpc: "2.0", id: 1, method, params: [...params, "0x3"]});
  const readSlot = async (slot: number) => (await read("eth_getStorageAt", CONTRACT, slotText(slot))).result;
  assert.deepEqual([await readSlot(1), await readSlot(2), requests], [slotText(8), slotText(0), 0]);
  assert.deepEqual([await readSlot(44), await readSlot(SLOTS + 50)], [slotText(45), slotText(0)]);
  assert.equal(requests, 2);
  const proof: object | undefined = (await ask(call([], 3))).result;
  assert.equal((await read("eth_getBalance", CONTRACT)).result, (proof as {balance: string}).balance);
  assert.equal((await read("eth_getCode", CONTRACT)).result, "0x");
  for (const [method, ...slot] of [["eth_getBalance"], ["eth_getStorageAt", "0x1"]] as const) {
    const {error} = await read(method, `0x${"12".repeat(20)}`, ...slot);
    assert.equal(error?.code, -32001);
    assert.match(
      error?.message ?? "",
      /^account 0x(12)+ is not in the store at block 3: the store has slices/,
    );
  }
  lies = true;
  const {error} = await read("eth_getStorageAt", CONTRACT, slotText(51));
  assert.equal(error?.code, -32001);
  assert.match(error?.message ?? "", /^block 3: slot 0x0+33 of 0x(c0)+ is not in the store: the node's head/);
});

test("multiproofs fetch what they lack", async () => {
  await serve();
  const params = [[{address: CONTRACT, storageKeys: [slotText(40), slotText(41)]}], {blockNumber: "0x2"}];
  const answer = await ask({jsonrpc: "2.0", id: 1, method: "chain_getMultiProof", params});
  assert.equal(answer.error, undefined);
  assert.equal(typeof answer.result, "string");
  assert.equal(requests, 1);
  const ofReth = await ask({
    ...answer,
    jsonrpc: "2.0",
    method: "eth_getMultiProof",
    params: [[[CONTRACT, [slotText(42)]]], "0x2"],
  });
  assert.equal(ofReth.error, undefined);
  assert.equal(requests, 2);
});

test("nodes with other hashes are not stored, whatever the node says, and the call gets -32001", async () => {
  await serve();
  lies = true;
  for (let attempt = 1; attempt <= 2; attempt++) {
    const {error} = await ask(call([50], 2));
    assert.equal(error?.code, -32001);
    assert.match(
      error?.message ?? "",
      /^block 2: slot 0x0+32 of 0x(c0)+ is not in the store: the node's head no longer has/,
    );
    assert.equal(requests, attempt);
  }
  lies = false;
  assert.deepEqual(proofsOf(await ask(call([50], 2))), proveAll([50])[2]);
});

test("a slot that was written in a block that the store lacks is not provable before it", async () => {
  await serve();
  chain.write(new Map([[60, 1]]));
  const {error} = await ask(call([60], LATEST));
  assert.equal(error?.code, -32001);
  assert.match(error?.message ?? "", /a block that the store lacks has written it/);
});

test("without a node the error says so", async () => {
  await serve(false);
  const {error} = await ask(call([70], 1));
  assert.equal(error?.code, -32001);
  assert.match(
    error?.message ?? "",
    /slot 0x0+46 of 0x(c0)+ is not in the store: there is no node to fetch it from/,
  );
});

test("slots are stored by the import thread while an import runs", async () => {
  const {engine} = await serve();
  const nodes = {urls: ["http://127.0.0.1:9"], headers: {}, timeoutMs: 1000, maxAnswerBytes: 1e6};
  const settings = {source: undefined, genesisPath: undefined, to: undefined, surveyAfterMs: 0};
  const source = {kind: "node", nodes, ...settings, subscriptions: [], follow: true} as const;
  const running = engine.startImport({source, allowUnverified: true}, () => {});
  assert.deepEqual(proofsOf(await ask(call([80, 81], 1))), proveAll([80, 81])[1]);
  const missing = {block: 99, accounts: []};
  await assert.rejects(engine.writes.keepSlots([missing]), {code: "BLOCK_UNKNOWN"});
  assert.deepEqual(proofsOf(await ask(call([82], 1))), proveAll([82])[1]);
  running.stop();
  assert.equal((await running.outcome).ok, true);
});

/** @returns what ends the wait */
function holdNode(): () => void {
  let release!: () => void;
  held = new Promise(resolve => {
    release = resolve;
  });
  return release;
}

test("calls that wait for the node keep no others waiting, and share its next answers", async () => {
  await serve();
  const release = holdNode();
  const first = ask(call([90], 2));
  await waitUntil("the node to be asked", () => requests === 1);
  // Of one request, so that they lack their slots at the same moment.
  const others = ask([91, 92, 93, 94, 95].map(slot => call([slot], 2, slot)));
  assert.deepEqual(proofsOf(await ask(call([1], 2))), proveAll([1])[2]);
  release();
  const answers = [await first, ...(await others)];
  assert.deepEqual(answers.flatMap(proofsOf), proveAll([90, 91, 92, 93, 94, 95])[2]);
  assert.ok(requests <= 2, `${requests} requests`);
});

test("a call that waits for the node longer than a request may take gets -32005, and its slot is stored anyway", async () => {
  const {front} = await serve(true, {timeoutMs: 200});
  const release = holdNode();
  // On a busy machine the time may be over before the node is asked.
  do {
    const {error} = await ask(call([96], 2));
    assert.equal(error?.code, -32005);
  } while (requests === 0);
  release();
  await waitUntil("the fetch to end", async () => {
    return (await front.metrics.read()).text.includes('proofd_slice_fetches_total{outcome="answered"} 1');
  });
  const expected = proveAll([96])[2];
  await serve();
  assert.deepEqual(proofsOf(await ask(call([96], 2))), expected);
  assert.equal(requests, 1);
});
