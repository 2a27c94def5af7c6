/**
 * Multiproofs against the single proofs of the same keys, in this process, without threads: bytes and processor time.
 *
 *   accounts    1 000 random accounts of block 0 at the head        1 000 calls of chain_getProof
 *   slots       1 000 random slots of a contract with 100 000       one call of chain_getProof with 1 000 keys
 *
 * In a store of less than 100 000 accounts, the contract has as many slots as there are accounts.
 *
 * The contract is in a block on top of the store, which is rolled back afterwards. Each run takes other keys. Before a task is
 * measured it goes through all its keys once. Ratios of processor time are measured in turns, because other processes may use
 * the machine.
 */
import {gzipSync} from "node:zlib";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {ProofForm} from "../../workers/job/packedCall.ts";
import type {ProveJob} from "../../workers/job/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {Figure} from "./benchRun.ts";
import type {BenchStore} from "./benchStore.ts";
import {packCalls, packMulti} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";

const KEYS = 1000;
const MOST_SLOTS = 100_000;
/** Sets of keys. Their leaf pages are more than a thread keeps. A small store has no more keys than for a few. */
const MOST_SETS = 64;
/** Turns of each of the two, for a ratio of processor times. */
const MOST_TURNS = 24;
const CONTRACT = Buffer.alloc(20, 0xc0);
const BLOCK_HASH = Buffer.alloc(32, 0xc0);

/** Jobs that prove the same sets of keys in different forms. */
interface Compared {
  readonly name: string;
  readonly single: readonly ProveJob[];
  readonly hex: readonly ProveJob[];
  readonly bytes: readonly ProveJob[];
}

export async function createMultiproofStage({store, accounts, blocks}: BenchStore): Promise<Stage> {
  const block = blocks + 1;
  const slots = Math.min(MOST_SLOTS, accounts);
  await addContract(store, block, slots);
  const prover = new Prover(store.reader);
  const compared = [compareAccounts(block, accounts), compareSlots(block, slots)];
  const answer = (job: ProveJob): Uint8Array => {
    const {text, failures} = prover.answer(job);
    if (failures.length > 0) throw new Error(failures[0]?.detail);
    return text;
  };
  const prove = (name: string, jobs: readonly ProveJob[]): BenchTask => {
    let round = 0;
    const warmUp = (): void => {
      for (const job of jobs) answer(job);
    };
    return {name, units: KEYS, run: () => answer(next(jobs, round++)), hooks: {beforeAll: warmUp}};
  };
  return {
    tasks: compared.flatMap(({name, single, hex, bytes}) => [
      prove(`1 000 ${name}, single proofs`, single),
      prove(`1 000 ${name}, multiproof in hex`, hex),
      prove(`1 000 ${name}, multiproof as bytes`, bytes),
    ]),
    figures: () => compared.flatMap(one => [...compareSizes(one, answer), ...compareTimes(one, answer)]),
    close: () => store.rollback(blocks),
  };
}

async function addContract(store: BenchStore["store"], block: number, slots: number): Promise<void> {
  const writer = await BlockWriter.create(store);
  const changes = new AccountDifferences();
  const storage = Array.from({length: slots}, (_, i) => ({slot: slotAt(i), value: slotAt(i + 1)}));
  changes.add({address: CONTRACT, change: {nonce: 1n, storage}});
  const header = {number: block, hash: BLOCK_HASH, timestamp: BigInt(1_700_000_000 + block)};
  await writer.apply({header, accounts: changes});
  await writer.flush();
}

function slotAt(i: number): Uint8Array {
  const slot = Buffer.alloc(32);
  slot.writeUInt32BE(i + 1, 28);
  return slot;
}

/** Sets of numbers below `total`. */
function spreadSets(total: number): number[][] {
  return Array.from({length: Math.min(MOST_SETS, Math.ceil(total / KEYS))}, (_, set) =>
    Array.from({length: KEYS}, (_, i) => spread(set * KEYS + i, total)),
  );
}

function compareAccounts(block: number, accounts: number): Compared {
  const sets = spreadSets(accounts).map(set => set.map(addressAt));
  const multi = (form: ProofForm) =>
    sets.map(set =>
      packMulti(
        block,
        form,
        set.map(address => ({address, slots: []})),
      ),
    );
  return {
    name: "accounts",
    single: sets.map(set => packCalls(KEYS, i => ({block, address: set[i] as Buffer}))),
    hex: multi(ProofForm.MULTI_HEX),
    bytes: multi(ProofForm.MULTI_BYTES),
  };
}

function compareSlots(block: number, total: number): Compared {
  const sets = spreadSets(total).map(set => set.map(slotAt));
  const pack = (form: ProofForm) => sets.map(slots => packMulti(block, form, [{address: CONTRACT, slots}]));
  return {
    name: "slots",
    single: pack(ProofForm.PLAIN),
    hex: pack(ProofForm.MULTI_HEX),
    bytes: pack(ProofForm.MULTI_BYTES),
  };
}

type StageFigure = Omit<Figure, "suite" | "stage">;

function compareSizes(
  {name, single, hex, bytes}: Compared,
  answer: (job: ProveJob) => Uint8Array,
): StageFigure[] {
  const [singleText, multiHex, multiBytes] = [single, hex, bytes].map(jobs => answer(next(jobs, 0))) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  const percent = (part: Uint8Array, whole: Uint8Array): number => (100 * part.length) / whole.length;
  const ratio = (what: string, value: number): StageFigure => ({
    name: `1 000 ${name}, ${what} against single proofs`,
    value,
    unit: "percent",
  });
  return [
    {name: `1 000 ${name}, single proofs`, value: singleText.length, unit: "bytes"},
    {name: `1 000 ${name}, multiproof in hex`, value: multiHex.length, unit: "bytes"},
    {name: `1 000 ${name}, multiproof as bytes`, value: multiBytes.length, unit: "bytes"},
    ratio("hex", percent(multiHex, singleText)),
    ratio("gzipped hex", percent(gzipSync(multiHex), gzipSync(singleText))),
    ratio("bytes", percent(multiBytes, singleText)),
    ratio("gzipped bytes", percent(gzipSync(multiBytes), gzipSync(singleText))),
  ];
}

function compareTimes(
  {name, single, hex, bytes}: Compared,
  answer: (job: ProveJob) => Uint8Array,
): StageFigure[] {
  const cpuUs = [0, 0, 0] as [number, number, number];
  for (let turn = 0; turn < Math.min(MOST_TURNS, single.length); turn++) {
    for (const [at, jobs] of [single, hex, bytes].entries()) {
      const before = process.cpuUsage();
      answer(next(jobs, turn));
      const {user, system} = process.cpuUsage(before);
      cpuUs[at] = (cpuUs[at] as number) + user + system;
    }
  }
  const [singleUs, hexUs, bytesUs] = cpuUs;
  return [
    {name: `1 000 ${name}, rate in hex against single proofs`, value: singleUs / hexUs, unit: "times"},
    {name: `1 000 ${name}, rate as bytes against single proofs`, value: singleUs / bytesUs, unit: "times"},
  ];
}

function next(jobs: readonly ProveJob[], round: number): ProveJob {
  return jobs[round % jobs.length] as ProveJob;
}
