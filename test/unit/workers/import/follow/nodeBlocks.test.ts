/** Blocks of nodes that lag, promise too much or change their mind, and orders that come between. */
import assert from "node:assert/strict";
import {once} from "node:events";
import {afterEach, beforeEach, test} from "node:test";
import type {BlockReader} from "../../../../../nodes/blocks/blockReader.ts";
import {type SourceBlock, Stopped} from "../../../../../nodes/blocks/sourceStep.ts";
import {type Node, NodeFailure, NodeRefusal} from "../../../../../nodes/rpc/node.ts";
import type {BlockDifference} from "../../../../../storage/block/blockDifference.ts";
import {toHex} from "../../../../../storage/hex.ts";
import {type NodeChain, readNodeBlocks} from "../../../../../workers/import/follow/nodeBlocks.ts";
import {NodeWatch} from "../../../../../workers/import/follow/nodeWatch.ts";
import {createBlock, hashOf, WrittenStore} from "../../../../support/stores/writtenStore.ts";

const PAUSED = new Error("paused");

let store: WrittenStore;
beforeEach(async () => {
  store = await WrittenStore.create(10);
});
afterEach(() => store.close());

/** A node with blocks up to `head`. Those above `shared` are of branch 2. */
function createNode(head: number, shared = head): Node {
  return {
    name: "http://node",
    async request(_method, [tag]) {
      const number = tag === "latest" ? head : Number(tag);
      if (number > head) return null;
      const [hash, parentHash] = [number, number - 1].map(at => toHex(hashOf(at, at > shared ? 2 : 1)));
      return {number: `0x${number.toString(16)}`, hash, parentHash};
    },
    requestAll: async () => [],
  };
}

/** Gives blocks of branch 1 up to `last`. */
function createReader(last: number): BlockReader {
  return {
    name: "trace",
    maxBlocks: 8,
    async read(_node, from, to) {
      const numbers = Array.from({length: Math.max(0, Math.min(to, last) - from + 1)}, (_, at) => from + at);
      return numbers.map(number => {
        const difference = createBlock(number, 1);
        const {hash, parentHash} = difference.header;
        return {
          number,
          hash,
          parentHash: parentHash as Uint8Array,
          origin: "the node",
          bytes: 1,
          difference: async () => difference,
        };
      });
    },
  };
}

/** @param nodes - asked in turn, the last one on and on. One that fails is asked no more */
function createChain(...nodes: readonly Node[]): NodeChain {
  let asked = 0;
  return {
    nodes: {
      useOthers: async () => {},
      async use(work) {
        for (;;) {
          const node = nodes[Math.min(asked++, nodes.length - 1)] as Node;
          try {
            return await work(node);
          } catch (error) {
            if (!(error instanceof NodeFailure)) throw error;
          }
        }
      },
    },
    heads: {next: () => Promise.reject(PAUSED)},
    survey: undefined,
    watch: new NodeWatch(1, () => {}),
    host: store.host,
  };
}

/** Takes all steps until the source has waited for the last time. */
async function takeSteps(chain: NodeChain, last: number): Promise<void> {
  const take = async (): Promise<void> => {
    for await (const step of readNodeBlocks(chain, createReader(last), undefined))
      if (step.kind === "block") await store.apply(await step.difference());
      else if (step.kind === "rollback") await store.rollback(step.to);
  };
  await assert.rejects(take, PAUSED);
}

const latest = (): number | undefined => store.host.writer.latest;

test("a block comes again once an order has removed the one before it", async () => {
  const blocks = readNodeBlocks(createChain(createNode(12)), createReader(12), undefined);
  const nextNumber = async () => ((await blocks.next()).value as SourceBlock).number;
  assert.equal(await nextNumber(), 11);
  await store.rollback(9);
  assert.equal(await nextNumber(), 10);
  await blocks.return(undefined);
});

test("a node whose head promises more than it gives is asked again after a pause", async () => {
  await takeSteps(createChain(createNode(2 ** 30)), 10);
  assert.equal(latest(), 10);
});

test("no block is removed because a node that is behind was asked where the chains part", async () => {
  await takeSteps(createChain(createNode(10, 9), createNode(7), createNode(10)), 10);
  assert.equal(latest(), 10);
});

test("no block is removed because a node does not have one below its head", async () => {
  const broken: Node = {
    ...createNode(10, 9),
    request: async (method, params) =>
      params[0] === "latest" ? createNode(10, 9).request(method, params) : null,
  };
  await takeSteps(createChain(createNode(10, 9), broken, createNode(10)), 10);
  assert.equal(latest(), 10);
});

/** The states of a source until it has waited so often for nodes with these heads, which have blocks up to 12. */
async function readStates(heads: readonly number[], waits: number): Promise<string[]> {
  const states: string[] = [];
  const chain = {
    ...createChain(...heads.map(head => createNode(head))),
    watch: new NodeWatch(1, event => {
      if (event.kind === "state")
        states.push(event.reason === undefined ? event.state : `${event.state}: ${event.reason}`);
    }),
    heads: {next: () => (--waits > 0 ? Promise.resolve() : Promise.reject(PAUSED))},
  };
  await takeSteps(chain, 12);
  return states;
}

test("a node that is behind is waited for, and does not count as followed before", async () => {
  const waiting = "waiting: http://node: its newest block is 0, block 10 is in the store";
  assert.deepEqual(await readStates([0], 9), []);
  // The next node's blocks are read, though there are only two.
  assert.deepEqual(await readStates([...Array(10).fill(0), 12], 11), [waiting, "reading", "following"]);
});

test("a node that has not come to the first block of the store is waited for too", async () => {
  await store.close();
  store = await WrittenStore.begun(5, 10);
  const waiting = "waiting: http://node: its newest block is 2, block 10 is in the store";
  assert.deepEqual(await readStates([...Array(10).fill(2), 12], 11), [waiting, "reading", "following"]);
});

test("blocks that come begin the wait for a node that is behind anew", async () => {
  assert.deepEqual(await readStates([...Array(9).fill(0), 11, 0], 18), []);
});

/** Reads the first block again. @param reread - what the reader does then */
async function readAgain(
  reread: NonNullable<BlockReader["reread"]>,
  ending = new AbortController(),
): Promise<BlockDifference | undefined> {
  const {signal} = ending;
  const chain: NodeChain = {
    ...createChain(),
    nodes: {
      useOthers: async () => {},
      use: (work, life) =>
        Promise.race([once(life, "abort").then(() => Promise.reject(life.reason)), work(createNode(12))]),
    },
    host: {...store.host, signal},
  };
  const blocks = readNodeBlocks(chain, {...createReader(12), reread}, undefined);
  const {value: first} = await blocks.next();
  try {
    return await (first as SourceBlock).reread?.();
  } finally {
    await blocks.return(undefined);
  }
}

const readBlock = async (node: Node, number: number) =>
  (await createReader(12).read(node, number, number))[0];
const never = (): Promise<never> => new Promise(() => {});

test("a block is read again once, and only if it is still the same", async () => {
  assert.equal((await readAgain(readBlock))?.header.number, 11);
  assert.equal(await readAgain(node => readBlock(node, 12)), undefined);
  for (const failure of [new NodeFailure("no"), new NodeRefusal("no", -32000)]) {
    let tries = 0;
    const fail = () => Promise.reject(++tries === 1 ? failure : new Error("read once more"));
    assert.equal(await readAgain(fail), undefined);
  }
  await assert.rejects(
    readAgain(() => Promise.reject(new TypeError("our fault"))),
    TypeError,
  );
});

test("a block is read again for a minute at most, and a stop ends it", async t => {
  const limit = new AbortController();
  const timeout = t.mock.method(AbortSignal, "timeout", () => limit.signal);
  const late = async () => {
    limit.abort();
    return await never();
  };
  assert.equal(await readAgain(late), undefined);
  assert.deepEqual(timeout.mock.calls[0]?.arguments, [60_000]);
  timeout.mock.restore();
  const ending = new AbortController();
  const stopped = async () => {
    ending.abort();
    return await never();
  };
  await assert.rejects(readAgain(stopped, ending), Stopped);
});
