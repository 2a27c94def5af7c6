/** A fault of our own EVM: the library executes the block, the chain goes on, and the fault is reported. */
import assert from "node:assert/strict";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import pino from "pino";
import {SourceStatus} from "../../../server/observe/sourceStatus.ts";
import {SourceLog} from "../../../service/following/sourceLog.ts";
import {type EvmRules, rulesOf} from "../../../workers/evm/rules.ts";
import {BlockExecutor, type LibraryRun} from "../../../workers/execution/blockExecutor.ts";
import {decodeBlockHead} from "../../../workers/execution/blockHead.ts";
import {ExecutionError} from "../../../workers/execution/errors.ts";
import {
  type ChainFiles,
  type PlainDifference,
  readChainFiles,
  sortSlots,
  toPlain,
} from "../../support/chains/executedChain.ts";
import {MemoryNodes} from "../../support/chains/memoryNodes.ts";

const DEMO = fileURLToPath(new URL("demo", import.meta.resolve("#package/package.json")));
const BLOCKS = 6;
const ADD = 0x01;

let chain: ChainFiles;
let expected: readonly PlainDifference[];

before(async () => {
  chain = await readChainFiles(DEMO);
  const sound = await execute(rulesOf);
  assert.deepEqual(sound.runs, [], "nothing was left to the library");
  expected = sound.differences;
});

/** Executes the first blocks, and the first one that is damaged. */
async function execute(evmRules: (fork: string) => EvmRules | undefined) {
  const runs: LibraryRun[] = [];
  const differences: PlainDifference[] = [];
  const {genesis, blocks} = chain;
  const {executor} = await BlockExecutor.start(
    {
      ...{forks: genesis.forks, nodes: new MemoryNodes(), blockHash: () => undefined, evmRules},
      onLibraryRun: run => runs.push(run),
    },
    genesis,
  );
  for (const block of blocks.slice(0, BLOCKS))
    differences.push(sortSlots(toPlain(await executor.execute(block))));
  return {runs, differences, executor};
}

/** ADD costs 4 gas in place of 3. */
function withDearAdd(fork: string): EvmRules | undefined {
  const rules = rulesOf(fork);
  if (rules === undefined) return undefined;
  return {...rules, opcodes: rules.opcodes.map(one => (one?.[0] === ADD ? [ADD, 4, one[2], one[3]] : one))};
}

test("a block that the EVM gets wrong is taken as the library executes it, and so are those after it", async () => {
  const {runs, differences} = await execute(withDearAdd);
  assert.deepEqual(differences, expected);
  const wrong = runs.filter(({mismatch}) => mismatch !== undefined);
  assert.ok(wrong.length > 0);
  assert.equal(runs.length, wrong.length);
  for (const {reason, mismatch} of wrong) {
    assert.equal(reason, "disagreement");
    assert.match(mismatch ?? "", /^(gas used|receipts root): expected .* as in its header, got /);
  }
});

test("a fork that the EVM does not know is the library's, and no mismatch", async () => {
  const {runs, differences} = await execute(() => undefined);
  assert.deepEqual(differences, expected);
  const head = (at: number) => decodeBlockHead(chain.blocks[at] ?? new Uint8Array(0), "a block").number;
  assert.deepEqual(
    runs,
    Array.from({length: BLOCKS}, (_, at) => ({block: head(at), reason: "unknown fork", mismatch: undefined})),
  );
});

test("an EVM that fails in the middle of a block is replaced", async () => {
  let calls = 0;
  const {runs, differences} = await execute(fork => {
    const rules = rulesOf(fork);
    if (rules === undefined || calls++ > 0) return rules;
    // Reading them fails once the block is under way.
    return {
      ...rules,
      get params(): EvmRules["params"] {
        throw new ExecutionError("STATE_MISSING", "broken on purpose");
      },
    };
  });
  assert.deepEqual(differences, expected);
  assert.ok(runs.length > 0);
  for (const run of runs) assert.deepEqual(run, {...run, reason: "fault", mismatch: "broken on purpose"});
});

test("a block that the library refuses too is refused, and counted as no mismatch", async () => {
  const {runs, executor} = await execute(rulesOf);
  const next = Buffer.from(chain.blocks[BLOCKS] ?? []);
  const {stateRoot} = decodeBlockHead(next, "the block");
  next[next.indexOf(stateRoot)] = (stateRoot[0] ?? 0) ^ 1;
  await assert.rejects(executor.execute(next), /^ExecutionError: block 7: state root: expected 0x/);
  assert.deepEqual(runs, [{block: BLOCKS + 1, reason: "disagreement", mismatch: undefined}]);
  await executor.execute(chain.blocks[BLOCKS] ?? new Uint8Array(0));
  assert.equal(runs.length, 1);
});

test("a mismatch is logged with both results each time, and a reason of the library's runs once", () => {
  const lines: {level: number; msg: string; evm?: string; reason?: string}[] = [];
  const log = new SourceLog(pino({base: null}, {write: line => void lines.push(JSON.parse(line))}));
  const status = new SourceStatus("l2");
  const mismatch = "gas used: expected 21000 as in its header, got 21001";
  for (const run of [
    {block: 7, reason: "disagreement", mismatch},
    {block: 8, reason: "before the merge", mismatch: undefined},
    {block: 9, reason: "before the merge", mismatch: undefined},
    {block: 10, reason: "disagreement", mismatch},
  ]) {
    log.note({kind: "library", ...run});
    status.noteLibraryRun(run.reason, run.mismatch);
  }
  assert.deepEqual(
    lines.map(({level, evm, reason}) => ({level, said: evm ?? reason})),
    [
      {level: 50, said: mismatch},
      {level: 30, said: "before the merge"},
      {level: 50, said: mismatch},
    ],
  );
  assert.deepEqual(
    [...status.libraryRuns],
    [
      ["disagreement", 2],
      ["before the merge", 2],
    ],
  );
  assert.equal(status.evmMismatches, 2);
});
