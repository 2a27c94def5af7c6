/**
 * Leaves that differ between two blocks, in answers of chain_getChanges: making them in this process, without threads, and verifying
 * them with client/, one thread.
 *
 *   block    300 of the some 350 leaves that one block changes
 *   blocks   1 000 of those that all blocks change, where the next answer begins
 *
 * Each run takes other blocks, or the next answer. Before a task is measured it goes through all of them once.
 */
import {type ChangesRequest, type ComparedRoots, type HashSuite, verifyChanges} from "../../client/client.ts";
import {splitCursor} from "../../client/leaves/changeCursor.ts";
import {ChangeScope, packChanges} from "../../workers/messages/changesCall.ts";
import {ProofForm, packedBytes} from "../../workers/messages/packedCall.ts";
import type {ProveJob} from "../../workers/messages/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import type {BenchStore} from "./benchStore.ts";
import {clientSuites} from "./clientSuites.ts";
import {prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread, taskOf} from "./stage.ts";

const BLOCK_LEAVES = 300;
const BLOCKS_LEAVES = 1000;
/** Blocks, and answers, that are asked for. Their pages are more than a thread keeps. */
const MOST_ASKED = 64;
/** Answers that are verified. */
const VERIFIED = 8;

interface Asked {
  readonly request: ChangesRequest;
  readonly roots: ComparedRoots;
  readonly job: ProveJob;
}

export function createChangesStage({store, blocks}: BenchStore): Stage {
  const prover = new Prover(store.reader);
  const suites = clientSuites(store.reader.suite.name);
  const make = ({job}: Asked) => prove(prover, job);
  const ask = (from: number, to: number, cursor: bigint, count: number): Asked => {
    const calls = Buffer.alloc(packedBytes(1));
    const call = {fromBlock: from, toBlock: to, scope: ChangeScope.ALL, address: undefined, count};
    packChanges(calls, 0, {...call, cursor: splitCursor(cursor)}, ProofForm.CHANGES_BYTES);
    const [fromRoot, toRoot] = [from, to].map(block => store.reader.blockOrThrow(block).stateRoot);
    return {
      request: {tree: "all", cursor, count},
      roots: {from: fromRoot as Uint8Array, to: toRoot as Uint8Array},
      job: {calls: new Uint8Array(calls), ids: ["0"]},
    };
  };
  const single = Array.from({length: Math.min(MOST_ASKED, blocks)}, (_, i) => {
    const to = 1 + spread(i, blocks);
    return ask(to - 1, to, 0n, BLOCK_LEAVES);
  });
  const all: Asked[] = [];
  for (let cursor: bigint | undefined = 0n; cursor !== undefined && all.length < MOST_ASKED; ) {
    const asked = ask(0, blocks, cursor, BLOCKS_LEAVES);
    const {end}: {end: bigint | undefined} = verifyChanges(
      suites[0]?.[1] as HashSuite,
      asked.roots,
      asked.request,
      make(asked),
    );
    // The last one has fewer leaves.
    if (end !== undefined) all.push(asked);
    cursor = end;
  }
  const extents = [
    {name: "block", asked: single, leaves: BLOCK_LEAVES},
    {name: "blocks", asked: all, leaves: BLOCKS_LEAVES},
  ].filter(({asked}) => asked.length > 0);
  const tasks = extents.flatMap(({name, asked, leaves}): BenchTask[] => {
    const made = asked.slice(0, VERIFIED).map(one => ({...one, bytes: new Uint8Array(make(one))}));
    return [
      taskOf(`${name}, made`, leaves, asked, make),
      ...suites.map(([suiteName, suite]) =>
        taskOf(`${name}, verified, ${suiteName}`, leaves, made, ({roots, request, bytes}) =>
          verifyChanges(suite, roots, request, bytes),
        ),
      ),
    ];
  });
  const figures = () =>
    extents.flatMap(({name, asked, leaves}) => {
      prover.takeCounts();
      const bytes = make(asked[0] as Asked).length;
      const {cachedPages, storedPages} = prover.takeCounts();
      return [
        {name: `${name}, each leaf`, value: bytes / leaves, unit: "bytes" as const},
        {
          name: `${name}, read for each leaf`,
          value: (cachedPages + storedPages) / leaves,
          unit: "pages" as const,
        },
      ];
    });
  return {tasks, figures};
}
