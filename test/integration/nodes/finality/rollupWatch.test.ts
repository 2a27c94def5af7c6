/** Reading a rollup contract's events from nodes of layer 1 that are behind, refuse, or take back what was final. */
import assert from "node:assert/strict";
import {afterEach, beforeEach, test} from "node:test";
import {
  type ReadPosition,
  type RollupSettings,
  type RollupStep,
  RollupWatch,
} from "../../../../nodes/finality/rollupWatch.ts";
import {Contradiction} from "../../../../nodes/rpc/node.ts";
import {Nodes, type NodesEvent} from "../../../../nodes/rpc/nodes.ts";
import {toHex} from "../../../../storage/hex.ts";
import {CONTRACT, createEvent, createStep} from "../../../support/chains/finalityEvents.ts";
import {answerCalls, answerText, Upstream} from "../../../support/http/upstream.ts";
import type {JsonRpcCall} from "../../../support/nodes/jsonRpcServer.ts";

/** One of several nodes behind one URL. */
interface Backend {
  /** It has no blocks above, but knows which one is finalized. */
  readonly head?: number;
  /** Added to each byte of its hashes. */
  readonly salt?: number;
}

/** A node whose block n has the hash of 32 bytes n. */
class Layer1Node {
  readonly upstream = new Upstream();
  finalized = 100;
  /** The contract has code from here on. */
  deployedAt = 40;
  /** States of older blocks are gone. */
  stateSince = 0;
  /** Errors by method. */
  readonly refusals = new Map<string, string>();
  readonly ranges: string[] = [];
  /** The one that requests with eth_getLogs come to. */
  logBackend: Backend = {};
  private current: Backend = {};

  constructor() {
    const answerEach = answerCalls((method, params) => {
      const message = this.refusals.get(method);
      return message === undefined ? this.answer(method, params) : {error: {code: -32000, message}};
    });
    this.upstream.handler = (request, response) => {
      this.current = request.body.includes("eth_getLogs") ? this.logBackend : {};
      answerEach(request, response);
    };
  }

  private answer(method: string, params: readonly unknown[]): object {
    if (method === "eth_getLogs") {
      const [{fromBlock, toBlock}] = params as [{fromBlock: string; toBlock: string}];
      this.ranges.push(`${Number(fromBlock)} to ${Number(toBlock)}`);
      return {result: []};
    }
    if (method === "eth_getCode") {
      const block = Number(params[1]);
      if (block < this.stateSince) return {error: {code: -32000, message: "missing trie node"}};
      return {result: block < this.deployedAt ? "0x" : "0x00"};
    }
    const [selector] = params as [string];
    const number = selector === "finalized" || selector === "latest" ? this.finalized : Number(selector);
    if (selector !== "finalized" && number > (this.current.head ?? number)) return {result: null};
    const salt = this.current.salt ?? 0;
    const [hash, parentHash] = [number, number - 1].map(block => toHex(Buffer.alloc(32, block + salt)));
    return {result: {number: `0x${number.toString(16)}`, hash, parentHash}};
  }
}

const SETTINGS: RollupSettings = {contract: CONTRACT, from: undefined, depth: undefined};
const NOTHING_READ: ReadPosition = {mark: undefined, last: undefined};
const forever = new AbortController().signal;

let first: Layer1Node;
let second: Layer1Node;
let events: NodesEvent[];
let nodes: Nodes;

beforeEach(async () => {
  [first, second] = [new Layer1Node(), new Layer1Node()];
  events = [];
  for (const {upstream} of [first, second]) await upstream.start();
  nodes = new Nodes(
    {
      urls: [first.upstream.url.href, second.upstream.url.href],
      headers: {},
      timeoutMs: 10_000,
      maxAnswerBytes: 1 << 20,
    },
    event => events.push(event),
    {firstMs: 1, longestMs: 10},
  );
});

afterEach(async () => {
  await nodes.close();
  for (const {upstream} of [first, second]) await upstream.stop();
});

async function read(
  watch: RollupWatch,
  mark?: RollupStep["mark"],
  position: Partial<ReadPosition> = {},
): Promise<RollupStep> {
  const step = await watch.read({...NOTHING_READ, mark, ...position}, forever);
  assert.ok("mark" in step);
  return step;
}

const markOf = (block: number) => createStep(block).mark;

test("events are read from the contract's deployment on, to the finalized block", async () => {
  const watch = new RollupWatch(nodes, SETTINGS);
  const step = await read(watch);
  const node = first.upstream.url.origin;
  assert.deepEqual(step, {after: markOf(39), mark: markOf(100), events: [], head: 100, node});
  assert.deepEqual(first.ranges, ["40 to 100"]);
  assert.deepEqual(await read(watch, step.mark), {
    after: step.mark,
    mark: step.mark,
    events: [],
    head: 100,
    node,
  });
  assert.equal(first.ranges.length, 1);
});

test("events are read from block 1 on where the node does not have old states, or from where the settings say", async () => {
  first.stateSince = 90;
  await read(new RollupWatch(nodes, SETTINGS));
  await read(new RollupWatch(nodes, {...SETTINGS, from: 70}));
  await read(new RollupWatch(nodes, {...SETTINGS, from: 70, depth: 10}));
  assert.deepEqual(first.ranges, ["1 to 100", "70 to 100", "70 to 90"]);
});

test("a node whose finalized block falls, or that is behind another one, gives nothing new", async () => {
  const watch = new RollupWatch(nodes, SETTINGS);
  const {mark} = await read(watch);
  first.finalized = 99;
  assert.deepEqual((await read(watch, mark)).mark, mark);
  first.finalized = 101;
  assert.equal((await read(watch, mark)).mark.block, 101);
  // The second node takes over, and knows less.
  first.refusals.set("eth_getBlockByNumber", "finalized block not found");
  second.finalized = 95;
  assert.deepEqual((await read(watch, mark)).mark, mark);
  second.finalized = 102;
  assert.equal((await read(watch, mark)).mark.block, 102);
  assert.match(
    events.find(({state}) => state === "down")?.reason ?? "",
    /names no finalized block: .*not found.*give --l1-depth/,
  );
});

test("another hash where layer 1 was read: it is read again from the last recorded event on, which must be there", async () => {
  const watch = new RollupWatch(nodes, SETTINGS);
  const other = {...markOf(50), blockHash: Buffer.alloc(32, 51)};
  assert.deepEqual((await read(watch, other)).after, markOf(39));
  assert.deepEqual(first.ranges, ["40 to 100"]);
  await assert.rejects(
    read(watch, other, {last: createEvent(1, 3, 45)}),
    error =>
      error instanceof Contradiction &&
      /block 45 has no finalization up to block 3 .* any more/.test(error.message),
  );
  assert.deepEqual(first.ranges, ["40 to 100", "45 to 100"]);
});

test("a node that refuses the events of one block is left for another", async () => {
  first.refusals.set("eth_getLogs", "not for you");
  const watch = new RollupWatch(nodes, {...SETTINGS, from: 1});
  assert.equal((await read(watch)).mark.block, 1);
  assert.deepEqual(second.ranges, ["1 to 1"]);
  assert.match(
    events.find(({state}) => state === "down")?.reason ?? "",
    /it refuses the events of layer-1 block 1: .*not for you/,
  );
});

/** Does the provider refuse it? */
function isWide({method, params}: JsonRpcCall): boolean {
  const [{fromBlock, toBlock}] = params as [{fromBlock: string; toBlock: string}];
  return method === "eth_getLogs" && Number(toBlock) - Number(fromBlock) >= 300;
}

for (const status of [200, 402, 403, 413, 429, 500, 503])
  test(`ranges that a provider refuses with HTTP ${status} are narrowed, and it is not down`, async () => {
    const answer = first.upstream.handler;
    const text = '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"block range is too wide"}}';
    first.finalized = 3000;
    first.upstream.handler = (request, response) => {
      // All of a batch.
      if ([request.call].flat().some(isWide)) answerText(text, status)(request, response);
      else answer(request, response);
    };
    const watch = new RollupWatch(nodes, {...SETTINGS, from: 1});
    for (let mark: RollupStep["mark"] | undefined; mark?.block !== 3000; ) ({mark} = await read(watch, mark));
    assert.equal(first.ranges[0], "1 to 250");
    assert.deepEqual(
      events.map(({state}) => state),
      ["up"],
    );
    // Ranges that were answered came with their last block. What comes alone shows that not the batch was refused.
    assert.ok(first.upstream.requests.every(({call}) => call.method !== "eth_getLogs" || isWide(call)));
  });

test("events of a node behind a load balancer count only if the same node has the last block of the range", async () => {
  first.logBackend = {head: 99};
  const step = await read(new RollupWatch(nodes, {...SETTINGS, from: 40}));
  // After any failure the next range has half as many blocks.
  assert.deepEqual(step.mark, markOf(69));
  assert.deepEqual([first.ranges, second.ranges], [["40 to 100"], ["40 to 69"]]);
  assert.match(
    events.find(({state}) => state === "down")?.reason ?? "",
    /^it answers eth_getLogs without having block 100: /,
  );
});

test("events of a node behind a load balancer count only if its last block is the one that was called final", async () => {
  first.logBackend = {salt: 1};
  const step = await read(new RollupWatch(nodes, {...SETTINGS, from: 1}));
  assert.deepEqual(step.mark, markOf(50));
  assert.match(
    events.find(({state}) => state === "down")?.reason ?? "",
    /^its block 100 is 0x6464\w+ and then 0x6565\w+: /,
  );
});
