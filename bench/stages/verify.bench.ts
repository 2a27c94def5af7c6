/**
 * Verifying proofs of random accounts of one block with client/, one thread: with the runtime's SHA-256, with as-sha256 as a caller
 * passes it, and with @noble/hashes.
 *
 *   chain_getProof   answers, parsed                        1 proof each
 *   compact          proof bytes of such an answer          1 proof each
 *   multiproof       proof bytes                            1 000 accounts each
 *
 * A suite remembers branches, which the proofs of a block share. "No memory" is the worst case, each proof of a block of its
 * own.
 */
import * as asSha256 from "@chainsafe/as-sha256";
import {
  compact,
  createSha256Suite,
  encodeHex,
  type HashSuite,
  type ProofRequest,
  sha256Suite,
  verifyCompact,
  verifyMultiProof,
  verifyProof,
} from "../../client/client.ts";
import {ProofForm} from "../../workers/messages/packedCall.ts";
import type {ProveJob} from "../../workers/messages/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {clientSuites} from "./clientSuites.ts";
import {packCalls, packEntries, prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";

const SETS = 2;
const ACCOUNTS_PER_SET = 1000;
const CALLS_PER_RUN = 4;

const NO_MEMORY = "as-sha256, no memory";

/** 1 000 accounts of one block, proved in three forms. */
interface ProvedSet {
  readonly request: readonly ProofRequest[];
  readonly answers: readonly unknown[];
  readonly compacts: readonly Uint8Array[];
  readonly multiproof: Uint8Array;
}

export function createVerifyStage({store, accounts, blocks}: BenchStore): Stage {
  const {stateRoot} = store.reader.blockOrThrow(blocks);
  const suites = suitesOf(store.reader.suite.name);
  const [[, suite]] = suites as [readonly [string, HashSuite]];
  const prover = new Prover(store.reader);
  // The prover overwrites its text.
  const answer = (job: ProveJob) => Buffer.from(prove(prover, job));
  const sets = Array.from({length: SETS}, (_, set): ProvedSet => {
    const addresses = Array.from({length: ACCOUNTS_PER_SET}, (_, i) =>
      addressAt(spread(set * ACCOUNTS_PER_SET + i, accounts)),
    );
    const request = addresses.map(address => ({address: encodeHex(address), storageKeys: []}));
    const text = answer(packCalls(ACCOUNTS_PER_SET, i => ({block: blocks, address: addresses[i] as Buffer})));
    const answers = (JSON.parse(`[${text}]`) as {result: unknown}[]).map(({result}) => result);
    const entries = addresses.map(address => ({address, slots: []}));
    return {
      request,
      answers,
      compacts: answers.map((answer, i) => compact(suite, request[i] as ProofRequest, answer)),
      multiproof: answer(packEntries(blocks, ProofForm.MULTI_BYTES, entries)),
    };
  });
  return {tasks: suites.flatMap(([name, one]) => tasksOf(name, one, stateRoot, sets))};
}

/** Without memory: each branch is hashed again. */
function suitesOf(name: string): readonly (readonly [string, HashSuite])[] {
  const suites = clientSuites(name);
  if (name !== sha256Suite.name) return suites;
  const {digest2Bytes32: hashPair, digest64: hashBranch} = asSha256;
  return [...suites, [NO_MEMORY, {...createSha256Suite(asSha256), hashPair, hashBranch}]];
}

/** One task for each form. */
function tasksOf(name: string, suite: HashSuite, root: Uint8Array, sets: readonly ProvedSet[]): BenchTask[] {
  // Another call, other accounts.
  let call = 0;
  const single = () => {
    const {request, answers, compacts} = sets[Math.floor(call / ACCOUNTS_PER_SET) % SETS] as ProvedSet;
    const i = call++ % ACCOUNTS_PER_SET;
    return {entry: request[i] as ProofRequest, answer: answers[i], bytes: compacts[i] as Uint8Array};
  };
  const verifyOne = (form: string, verify: () => unknown): BenchTask => ({
    name: `${form}, ${name}`,
    units: CALLS_PER_RUN,
    run: () => {
      for (let i = 0; i < CALLS_PER_RUN; i++) verify();
    },
  });
  const tasks = [
    verifyOne("chain_getProof", () => {
      const {entry, answer} = single();
      return verifyProof(suite, root, entry.address, entry.storageKeys, answer);
    }),
    verifyOne("compact", () => {
      const {entry, bytes} = single();
      return verifyCompact(suite, root, entry, bytes);
    }),
  ];
  // A multiproof has each branch once.
  if (name === NO_MEMORY) return tasks;
  const verifyMany = () => {
    const {request, multiproof} = sets[call++ % SETS] as ProvedSet;
    return verifyMultiProof(suite, root, request, multiproof);
  };
  return [...tasks, {name: `multiproof, ${name}`, units: ACCOUNTS_PER_SET, run: verifyMany}];
}
