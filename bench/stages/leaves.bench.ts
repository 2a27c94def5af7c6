/**
 * Leaves of whole trees at the head, in answers of chain_getLeaves of 1 000 leaves: making them in this process, without threads, and
 * verifying them with client/, one thread.
 *
 *   accounts   all accounts of the store
 *   slots      the token's, one for each holder
 *
 * Each run takes the next range. Before a task is measured it goes through all its ranges once.
 */
import {encodeHex} from "../../client/bytes/hex.ts";
import {type LeavesRequest, verifyLeaves} from "../../client/client.ts";
import {packLeaves} from "../../workers/messages/leavesCall.ts";
import {ProofForm, packedBytes} from "../../workers/messages/packedCall.ts";
import type {ProveJob} from "../../workers/messages/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import {clientSuites} from "./clientSuites.ts";
import {prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread, taskOf} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

const LEAVES = 1000;
/** Ranges of a tree that are asked for. Their pages are more than a thread keeps. */
const MOST_RANGES = 64;
/** Ranges that are verified. */
const VERIFIED = 8;

interface AskedRange {
  readonly request: LeavesRequest;
  readonly job: ProveJob;
}

export function createLeavesStage({store, accounts, blocks}: BenchStore): Stage {
  const {stateRoot} = store.reader.blockOrThrow(blocks);
  const prover = new Prover(store.reader);
  const make = ({job}: AskedRange) => prove(prover, job);
  const trees = [
    {name: "accounts", ranges: rangesOf(blocks, undefined, accounts)},
    {name: "slots", ranges: rangesOf(blocks, TOKEN, HOLDERS)},
  ];
  const tasks = trees.flatMap(({name, ranges}): BenchTask[] => {
    const made = ranges.slice(0, VERIFIED).map(range => ({request: range.request, bytes: make(range)}));
    return [
      taskOf(`${name}, made`, LEAVES, ranges, make),
      ...clientSuites(store.reader.suite.name).map(([suiteName, suite]) =>
        taskOf(`${name}, verified, ${suiteName}`, LEAVES, made, ({request, bytes}) =>
          verifyLeaves(suite, stateRoot, request, bytes),
        ),
      ),
    ];
  });
  const figures = () =>
    trees.map(({name, ranges}) => ({
      name: `${name}, each leaf`,
      value: make(ranges[0] as AskedRange).length / LEAVES,
      unit: "bytes" as const,
    }));
  return {tasks, figures};
}

/** Ranges of LEAVES from the third position on. @param leaves - of the tree, at least LEAVES */
function rangesOf(block: number, address: Uint8Array | undefined, leaves: number): AskedRange[] {
  const count = Math.min(MOST_RANGES, Math.floor(leaves / LEAVES));
  return Array.from({length: count}, (_, i) => {
    const from = 2 + spread(i, Math.floor(leaves / LEAVES)) * LEAVES;
    const calls = Buffer.alloc(packedBytes(1));
    packLeaves(calls, 0, {block, address, from, count: LEAVES}, ProofForm.LEAVES_BYTES);
    const tree = address === undefined ? "accounts" : encodeHex(address);
    return {request: {tree, from, count: LEAVES}, job: {calls: new Uint8Array(calls), ids: ["0"]}};
  });
}
