/**
 * Verifies proofs of random accounts of one block with client/ on one thread: with the runtime's SHA-256, with
 * as-sha256, and with @noble/hashes.
 *
 *   chain_getProof   answers, parsed                        1 proof each
 *   compact          proof bytes of such an answer          1 proof each
 *   multiproof       proof bytes                            1 000 accounts each
 *
 * A suite caches branches, which the proofs of a block share. "No memory" is the worst case, where each proof is of
 * another block.
 */
import * as asSha256 from "@chainsafe/as-sha256";
import {
  compact,
  createSha256Suite,
  encodeHex,
  type HashSuite,
  sha256Suite,
  verifyCompact,
  verifyMultiProof,
  verifyProof,
} from "../../client/client.ts";
import type {PackedJob} from "../../workers/messages/jobMailbox.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {clientSuites} from "./clientSuites.ts";
import {packCalls, packMultiProof, prove} from "./proveJobs.ts";
import {type BenchTask, cycleOf, type Stage, spread} from "./stage.ts";

const SETS = 2;
/** The minimum of accounts in a store. */
const ACCOUNTS_PER_SET = 1000;

export function createVerifyStage({store, accounts, blocks: block}: BenchStore): Stage {
  const {stateRoot: root} = store.reader.blockOrThrow(block);
  const suites = clientSuites(store.reader.suiteName);
  const prover = new Prover(store.reader);
  // A copy: the prover reuses its buffer.
  const answer = (job: PackedJob) => Buffer.from(prove(prover, job));
  const sets = Array.from({length: Math.min(SETS, accounts / ACCOUNTS_PER_SET)}, (_, set) => {
    const entries = Array.from({length: ACCOUNTS_PER_SET}, (_, i) => ({
      block,
      address: addressAt(spread(set * ACCOUNTS_PER_SET + i, accounts)),
    }));
    const request = entries.map(({address}) => ({address: encodeHex(address), storageKeys: []}));
    const answers = JSON.parse(`[${answer(packCalls(entries))}]`) as readonly {result: unknown}[];
    const singles = request.map((entry, i) => {
      const result = answers[i]?.result;
      return {entry, result, bytes: compact(suites[0][1], entry, result)};
    });
    return {request, singles, multiproof: answer(packMultiProof(entries))};
  });
  const singles = sets.flatMap(set => set.singles);
  const tasksOf = (name: string, suite: HashSuite): BenchTask[] => [
    cycleOf(`chain_getProof, ${name}`, 1, singles, ({entry, result}) =>
      verifyProof(suite, root, entry.address, entry.storageKeys, result),
    ),
    cycleOf(`compact, ${name}`, 1, singles, ({entry, bytes}) => verifyCompact(suite, root, entry, bytes)),
    cycleOf(`multiproof, ${name}`, ACCOUNTS_PER_SET, sets, ({request, multiproof}) =>
      verifyMultiProof(suite, root, request, multiproof),
    ),
  ];
  const tasks = suites.flatMap(([name, suite]) => tasksOf(name, suite));
  if (store.reader.suiteName !== sha256Suite.name) return {tasks};
  // Without the cache, each branch is hashed again. A multiproof has each branch once, so it is not measured again.
  const {digest2Bytes32: hashPair, digest64: hashBranch} = asSha256;
  const forgetful = {...createSha256Suite(asSha256), hashPair, hashBranch};
  return {tasks: [...tasks, ...tasksOf("as-sha256, no memory", forgetful).slice(0, 2)]};
}
