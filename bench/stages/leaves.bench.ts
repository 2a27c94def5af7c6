/**
 * Answers of chain_getLeaves and chain_getChanges, made and verified (with client/) on one thread in this process.
 *
 *   leaves    accounts   1 000 leaves of all accounts of the store, at the head
 *             slots      1 000 of the token's slots, one for each holder
 *   changes   block      300 of the about 350 leaves that a block changes
 *             blocks     1 000 of the leaves that all blocks change, answer by answer
 *
 * Each run takes another answer. Before it is measured, a task goes through all of them once.
 */
import {encodeHex} from "../../client/bytes/hex.ts";
import {type HashSuite, verifyChanges, verifyLeaves} from "../../client/client.ts";
import {splitCursor} from "../../client/leaves/changesReader.ts";
import {ChangeScope, packChanges} from "../../workers/messages/changesCall.ts";
import type {PackedJob} from "../../workers/messages/jobMailbox.ts";
import {packLeaves} from "../../workers/messages/leavesCall.ts";
import {ProofForm} from "../../workers/messages/packedCall.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import {clientSuites} from "./clientSuites.ts";
import {prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread, taskOf} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

const LEAVES = 1000;
const BLOCK_LEAVES = 300;
/** Different answers of one kind. Their pages exceed the cache of a thread. */
const MOST_ASKED = 64;
const VERIFIED = 8;

interface Asked {
  readonly job: PackedJob;
  readonly verify: (suite: HashSuite, bytes: Uint8Array) => unknown;
}

/** Answers with the same number of leaves. */
interface Extent {
  readonly name: string;
  readonly leaves: number;
  readonly asked: readonly Asked[];
}

export function createLeavesStage(benchStore: BenchStore): Stage {
  const {store, accounts, blocks: block} = benchStore;
  const {stateRoot} = store.reader.blockOrThrow(block);
  /** Ranges from the third position on. @param leaves - number of leaves in the tree, at least LEAVES */
  const ask = (address: Uint8Array | undefined, leaves: number): Asked[] => {
    const ranges = Math.floor(leaves / LEAVES);
    const tree = address === undefined ? "accounts" : encodeHex(address);
    return Array.from({length: Math.min(MOST_ASKED, ranges)}, (_, i) => {
      const range = {from: 2 + spread(i, ranges) * LEAVES, count: LEAVES};
      const calls = packLeaves({block, address, ...range}, ProofForm.LEAVES_BYTES);
      const verify: Asked["verify"] = (suite, bytes) =>
        verifyLeaves(suite, stateRoot, {tree, ...range}, bytes);
      return {job: jobOf(calls), verify};
    });
  };
  return createStage(benchStore, () => [
    {name: "accounts", leaves: LEAVES, asked: ask(undefined, accounts)},
    {name: "slots", leaves: LEAVES, asked: ask(TOKEN, HOLDERS)},
  ]);
}

export function createChangesStage(benchStore: BenchStore): Stage {
  const {reader} = benchStore.store;
  const {blocks} = benchStore;
  const rootOf = (block: number) => reader.blockOrThrow(block).stateRoot;
  const ask = (fromBlock: number, toBlock: number, cursor: bigint, count: number) => {
    const call = {fromBlock, toBlock, scope: ChangeScope.ALL, address: undefined, count};
    const calls = packChanges({...call, cursor: splitCursor(cursor)}, ProofForm.CHANGES_BYTES);
    const roots = {from: rootOf(fromBlock), to: rootOf(toBlock)};
    const verify = (suite: HashSuite, bytes: Uint8Array) =>
      verifyChanges(suite, roots, {tree: "all", cursor, count}, bytes);
    return {job: jobOf(calls), verify};
  };
  return createStage(benchStore, (suite, make) => {
    const single = Array.from({length: Math.min(MOST_ASKED, blocks)}, (_, i) => {
      const to = 1 + spread(i, blocks);
      return ask(to - 1, to, 0n, BLOCK_LEAVES);
    });
    const all: Asked[] = [];
    for (let cursor: bigint | undefined = 0n; cursor !== undefined && all.length < MOST_ASKED; ) {
      const asked = ask(0, blocks, cursor, LEAVES);
      cursor = asked.verify(suite, make(asked)).end;
      // The last answer has fewer leaves.
      if (cursor !== undefined) all.push(asked);
    }
    return [
      {name: "block", leaves: BLOCK_LEAVES, asked: single},
      {name: "blocks", leaves: LEAVES, asked: all},
    ];
  });
}

/** @param list - may make answers, to find the cursor of the next one */
function createStage(
  {store}: BenchStore,
  list: (suite: HashSuite, make: (asked: Asked) => Uint8Array) => readonly Extent[],
): Stage {
  const prover = new Prover(store.reader);
  const suites = clientSuites(store.reader.suiteName);
  const make = ({job}: Asked) => prove(prover, job);
  const extents = list(suites[0][1], make).filter(({asked}) => asked.length > 0);
  const tasks = extents.flatMap(({name, leaves, asked}): BenchTask[] => {
    const made = asked.slice(0, VERIFIED).map(one => ({...one, bytes: new Uint8Array(make(one))}));
    return [
      taskOf(`${name}, made`, leaves, asked, make),
      ...suites.map(([suiteName, suite]) =>
        taskOf(`${name}, verified, ${suiteName}`, leaves, made, ({verify, bytes}) => verify(suite, bytes)),
      ),
    ];
  });
  const figures = () =>
    extents.flatMap(({name, leaves, asked}) => {
      prover.takeCounts();
      const bytes = make(asked[0] as Asked).length;
      const {cachedPages, storedPages} = prover.takeCounts();
      return [
        {name: `${name}, each leaf`, value: bytes / leaves, unit: "bytes"},
        {name: `${name}, read for each leaf`, value: (cachedPages + storedPages) / leaves, unit: "pages"},
      ];
    });
  return {tasks, figures};
}

function jobOf(calls: Buffer): PackedJob {
  return {calls: new Uint8Array(calls), ids: ["0"]};
}
