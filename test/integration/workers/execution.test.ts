/** Executing a real chain: the public conformance chain of ../shared/data/rpc-compat. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {after, type TestContext, test} from "node:test";
import {BlockExecutor} from "../../../evm/execution/blockExecutor.ts";
import {decodeBlockHead} from "../../../evm/execution/blockHead.ts";
import {ExecutionError} from "../../../evm/execution/executionError.ts";
import type {Genesis} from "../../../evm/execution/genesis.ts";
import type {BlockDifference} from "../../../storage/block/blockDifference.ts";
import {StoreError} from "../../../storage/errors.ts";
import {toHex} from "../../../storage/hex.ts";
import {MemoryTries} from "../../../storage/trie/memoryTries.ts";
import type {TrieStore} from "../../../storage/trie/trieStore.ts";
import {CONFORMANCE, CONFORMANCE_BLOCKS} from "../../support/chains/conformanceChain.ts";
import {
  type ChainFiles,
  type ExecutedChain,
  executeChainOn,
  type PlainDifference,
  readChainFiles,
  toPlain,
} from "../../support/chains/executedChain.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {OwnThread} from "../../support/processes/ownThread.ts";
import {isSoak, sampleOf} from "../../support/soak.ts";

const thread = new OwnThread();

after(() => thread.close());

test("every block of the conformance chain executes, and the differences add up to the state in each header", async t => {
  const run = await executeConformanceChain(t);
  if (run === undefined) return;
  assert.equal(run.differences.length, 1 + CONFORMANCE_BLOCKS);
  assert.equal(run.roots.size, isSoak() ? CONFORMANCE_BLOCKS : 9);
  for (const [number, difference] of run.differences.entries()) {
    assert.equal(difference.header.number, number);
    const root = run.roots.get(number);
    if (root === undefined) continue;
    const {stateRoot} = decodeBlockHead(run.chain.blocks[number - 1] ?? new Uint8Array(0), `block ${number}`);
    assert.equal(toHex(root), toHex(stateRoot), `block ${number}`);
  }
});

test("the genesis block of the conformance chain has the hash that block 1 names as its parent", async t => {
  const chain = await readConformanceChain(t);
  if (chain === undefined) return;
  const {difference} = await BlockExecutor.start(options(chain.genesis, new MemoryTries()), chain.genesis);
  const first = decodeBlockHead(chain.blocks[0] ?? new Uint8Array(0), "block 1");
  assert.deepEqual(difference.header.hash, first.parentHash);
  assert.equal(difference.chain?.chainId, 3503995874084926n);
});

test("an executor that resumes in the middle gives the same differences as one that never stopped", async t => {
  const run = await executeConformanceChain(t);
  if (run === undefined) return;
  const {chain, differences} = run;
  const hashes = new Map(differences.map(({header}) => [header.number, header.hash]));
  for (const stop of sampleOf([8, 0, 40, 20], 2)) {
    const executor = BlockExecutor.resume(
      {...options(chain.genesis, storeOf(run)), blockHash: number => hashes.get(number)},
      {number: stop, hash: hashes.get(stop) ?? new Uint8Array(0)},
      run.tries[stop],
    );
    for (const block of chain.blocks.slice(stop, stop + 3))
      assertSameDifference(await executor.execute(block), differences);
  }
});

test("resuming after a block that was not executed here is refused", async t => {
  const chain = await readConformanceChain(t);
  if (chain === undefined) return;
  const after = {number: 7, hash: new Uint8Array(32)};
  assert.throws(() => BlockExecutor.resume(options(chain.genesis, new MemoryTries()), after, undefined), {
    name: "ExecutionError",
    code: "STATE_MISSING",
    message: /does not have the state trie of its newest block, 7,/,
  });
});

test("a damaged block is refused with its number and what did not match, and the undamaged one still executes", async t => {
  const chain = await readConformanceChain(t);
  if (chain === undefined) return;
  const {executor} = await BlockExecutor.start(options(chain.genesis, new MemoryTries()), chain.genesis);
  for (const [position, block] of chain.blocks.slice(0, 12).entries()) {
    const number = position + 1;
    if (number % 6 === 0) {
      const {stateRoot, parentHash} = decodeBlockHead(block, "the block");
      await assertRefused(
        executor,
        flip(block, stateRoot),
        new RegExp(`^block ${number}: state root: expected 0x.{64} as in its header, got 0x`),
      );
      await assertRefused(
        executor,
        flip(block, parentHash),
        new RegExp(`^block ${number}: its parentHash is 0x.{64}, but block`),
      );
    }
    await executor.execute(block);
  }
  await assertRefused(
    executor,
    chain.blocks[13] ?? new Uint8Array(0),
    /^expected block 13 after block 12, got block 14$/,
  );
});

test("a page of a trie that is missing or damaged is an error, not an empty account or an invalid block", async t => {
  const run = await executeConformanceChain(t);
  if (run === undefined) return;
  const {chain, differences} = run;
  const store = storeOf(run);
  const {hash} = differences[10]?.header ?? {hash: new Uint8Array(0)};
  const executor = BlockExecutor.resume(options(chain.genesis, store), {number: 10, hash}, run.tries[10]);
  store.read = page => {
    throw new StoreError("RECORD_MISSING", `page ${page} is not in the store`);
  };
  const next = chain.blocks[10] ?? new Uint8Array(0);
  await assert.rejects(executor.execute(next), {code: "RECORD_MISSING", message: /^page \d+ is not/});
  store.read = page => (store.pages[page - 1] as Buffer).subarray(0, -1);
  await assert.rejects(executor.execute(next), {
    code: "RECORD_DAMAGED",
    message: /^page \d+: expected a page of a trie/,
  });
});

function options({forks}: Genesis, store: TrieStore) {
  return {forks, store, blockHash: () => undefined};
}

function storeOf({pages, codes}: ExecutedChain): MemoryTries {
  return new MemoryTries(
    pages.map(page => Buffer.from(page)),
    new Map(codes),
  );
}

async function readConformanceChain(t: TestContext): Promise<ChainFiles | undefined> {
  if (existsSync(CONFORMANCE)) return readChainFiles(CONFORMANCE);
  notRun(t, `${CONFORMANCE} is not here; it holds the conformance chain`);
  return undefined;
}

interface Run extends ExecutedChain {
  readonly chain: ChainFiles;
}

let conformanceRun: Promise<ExecutedChain> | undefined;

/** Once for all tests. */
async function executeConformanceChain(t: TestContext): Promise<Run | undefined> {
  const chain = await readConformanceChain(t);
  if (chain === undefined) return undefined;
  conformanceRun ??= executeChainOn(thread, {folder: CONFORMANCE, rootsOf: isSoak() ? 1 : 6});
  return {chain, ...(await conformanceRun)};
}

function assertSameDifference(got: BlockDifference, all: readonly PlainDifference[]): void {
  // A copy, since the others are: bytes that were a Buffer are a Uint8Array in it.
  assert.deepEqual(structuredClone(toPlain(got)), all[got.header.number], `block ${got.header.number}`);
}

/** The block with one bit of `field`, which is a view into a copy of it or stands in it once, the other way round. */
function flip(block: Uint8Array, field: Uint8Array): Uint8Array {
  const damaged = Buffer.from(block);
  const at = damaged.indexOf(field);
  assert.ok(at >= 0);
  damaged[at] = (damaged[at] ?? 0) ^ 1;
  return new Uint8Array(damaged);
}

async function assertRefused(executor: BlockExecutor, block: Uint8Array, message: RegExp): Promise<void> {
  await assert.rejects(executor.execute(block), (error: unknown) => {
    assert.ok(error instanceof ExecutionError);
    assert.equal(error.code, "BLOCK_INVALID");
    assert.match(error.message, message);
    return true;
  });
}
