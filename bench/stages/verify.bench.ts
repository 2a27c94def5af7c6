/**
 * Verifying proofs of random accounts of one block with client/, one thread: with @noble/hashes, and with as-sha256 as a caller
 * passes it.
 *
 *   chain_getProof   answers, parsed                        1 proof each
 *   compact          proof bytes of such an answer          1 proof each
 *   multiproof       proof bytes                            1 000 accounts each
 *
 * A suite remembers branches, which the proofs of a block share. "No memory" is the worst case, each proof of a block of its
 * own. Rates are of processor time, measured in turns, because others may use the machine.
 */
import * as asSha256 from "@chainsafe/as-sha256";
import {
  compact,
  createSha256Suite,
  encodeHex,
  type HashSuite,
  type ProofRequest,
  poseidon2Suite,
  sha256Suite,
  verifyCompact,
  verifyMultiProof,
  verifyProof,
} from "../../client/client.ts";
import {ProofForm} from "../../workers/job/packedCall.ts";
import type {ProveJob} from "../../workers/job/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {Figure} from "./benchRun.ts";
import type {BenchStore} from "./benchStore.ts";
import {packCalls, packMulti} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";

const SETS = 2;
const ACCOUNTS_PER_SET = 1000;
const CALLS_PER_RUN = 4;
/**
 * Turns of each task, for the rates, or fewer: as many as the slowest task had runs. The fastest turn counts: whoever shares the
 * core's caches slows the others down.
 */
const MOST_TURNS = 8;
const ACCOUNTS_PER_TURN = 250;

const NO_MEMORY = "as-sha256, no memory";

/** 1 000 accounts of one block, proved in three forms. */
interface ProvedSet {
  readonly request: readonly ProofRequest[];
  readonly answers: readonly unknown[];
  readonly compacts: readonly Uint8Array[];
  readonly multiproof: Uint8Array;
}

/** One way of verifying. */
interface Verification {
  readonly name: string;
  /** Accounts that one call of `verify` proves. */
  readonly accounts: number;
  /** @param call - counts up; another call, other accounts */
  readonly verify: (call: number) => unknown;
}

export function createVerifyStage({store, accounts, blocks}: BenchStore): Stage {
  const {stateRoot} = store.reader.blockOrThrow(blocks);
  const suites = suitesOf(store.reader.suite.name);
  const prover = new Prover(store.reader);
  const prove = (job: ProveJob): Buffer => {
    const {text, failures} = prover.answer(job);
    if (failures.length > 0) throw new Error(failures[0]?.detail);
    // A comma follows each answer.
    return Buffer.from(text.subarray(0, -1));
  };
  const sets = Array.from({length: SETS}, (_, set): ProvedSet => {
    const addresses = Array.from({length: ACCOUNTS_PER_SET}, (_, i) =>
      addressAt(spread(set * ACCOUNTS_PER_SET + i, accounts)),
    );
    const request = addresses.map(address => ({address: encodeHex(address), storageKeys: []}));
    const text = prove(packCalls(ACCOUNTS_PER_SET, i => ({block: blocks, address: addresses[i] as Buffer})));
    const answers = (JSON.parse(`[${text}]`) as {result: unknown}[]).map(({result}) => result);
    const entries = addresses.map(address => ({address, slots: []}));
    return {
      request,
      answers,
      compacts: answers.map((answer, i) => compact(suites[0].suite, request[i] as ProofRequest, answer)),
      multiproof: prove(packMulti(blocks, ProofForm.MULTI_BYTES, entries)),
    };
  });
  const verifications = suites.flatMap(({name, suite}) => verificationsOf(name, suite, stateRoot, sets));
  return {
    tasks: verifications.map(toTask),
    figures: results =>
      measureRates(verifications, Math.min(MOST_TURNS, ...results.map(({samples}) => samples))),
  };
}

interface NamedSuite {
  readonly name: string;
  readonly suite: HashSuite;
}

function suitesOf(name: string): readonly [NamedSuite, ...NamedSuite[]] {
  if (name === poseidon2Suite.name) return [{name: "poseidon2", suite: poseidon2Suite}];
  const fast = createSha256Suite(asSha256);
  return [
    {name: "as-sha256", suite: fast},
    {name: "noble", suite: sha256Suite},
    {name: NO_MEMORY, suite: {...fast, hashPair: asSha256.digest2Bytes32, hashBranch: asSha256.digest64}},
  ];
}

function verificationsOf(
  name: string,
  suite: HashSuite,
  root: Uint8Array,
  sets: readonly ProvedSet[],
): Verification[] {
  const single = (call: number) => {
    const {request, answers, compacts} = sets[Math.floor(call / ACCOUNTS_PER_SET) % SETS] as ProvedSet;
    const i = call % ACCOUNTS_PER_SET;
    return {entry: request[i] as ProofRequest, answer: answers[i], bytes: compacts[i] as Uint8Array};
  };
  const verifyAnswer = (call: number) => {
    const {entry, answer} = single(call);
    return verifyProof(suite, root, entry.address, entry.storageKeys, answer);
  };
  const verifyBytes = (call: number) => {
    const {entry, bytes} = single(call);
    return verifyCompact(suite, root, entry, bytes);
  };
  const verifyMany = (call: number) => {
    const {request, multiproof} = sets[call % SETS] as ProvedSet;
    return verifyMultiProof(suite, root, request, multiproof);
  };
  const verifications = [
    {name: `chain_getProof, ${name}`, accounts: 1, verify: verifyAnswer},
    {name: `compact, ${name}`, accounts: 1, verify: verifyBytes},
    {name: `multiproof, ${name}`, accounts: ACCOUNTS_PER_SET, verify: verifyMany},
  ];
  // A multiproof has each branch once.
  return name === NO_MEMORY ? verifications.slice(0, 2) : verifications;
}

function toTask({name, accounts, verify}: Verification): BenchTask {
  const calls = accounts === 1 ? CALLS_PER_RUN : 1;
  let call = 0;
  const run = (): void => {
    for (let i = 0; i < calls; i++) verify(call++);
  };
  return {name, units: calls * accounts, run};
}

function measureRates(
  verifications: readonly Verification[],
  turns: number,
): Omit<Figure, "suite" | "stage">[] {
  const bestUs = new Array<number>(verifications.length).fill(Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < turns; turn++)
    for (const [at, {accounts, verify}] of verifications.entries()) {
      const calls = Math.ceil(ACCOUNTS_PER_TURN / accounts);
      // Other accounts than the task before it, whose proofs would still be in the processor's caches.
      const first = (turn * verifications.length + at) * calls;
      const before = process.cpuUsage();
      for (let i = 0; i < calls; i++) verify(first + i);
      const {user, system} = process.cpuUsage(before);
      bestUs[at] = Math.min(bestUs[at] as number, (user + system) / (calls * accounts));
    }
  return verifications.map(({name}, at) => {
    return {name, value: 1e6 / (bestUs[at] as number), unit: "verified per second of CPU"};
  });
}
