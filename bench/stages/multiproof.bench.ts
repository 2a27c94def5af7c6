/**
 * Multiproofs against the single proofs of the same keys, in this process, without threads: time and bytes.
 *
 *   accounts    1 000 random accounts of block 0 at the head        1 000 calls of chain_getProof
 *   slots       1 000 random slots of a contract with 100 000       one call of chain_getProof with 1 000 keys
 *
 * In a store of less than 100 000 accounts, the contract has as many slots as there are accounts.
 *
 * The contract is in a block on top of the store, which is rolled back afterwards. Each run takes other keys. Before a task is
 * measured it goes through all its keys once.
 */
import {gzipSync} from "node:zlib";
import {AccountDifferences} from "../../storage/block/accountDifferences.ts";
import {BlockWriter} from "../../storage/commit/blockWriter.ts";
import {ProofForm} from "../../workers/job/packedCall.ts";
import type {ProveJob} from "../../workers/job/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {StageFigure} from "./benchRun.ts";
import type {BenchStore} from "./benchStore.ts";
import {packCalls, packEntries} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";

const KEYS = 1000;
const MOST_SLOTS = 100_000;
/** Sets of keys. Their leaf pages are more than a thread keeps. A small store has no more keys than for a few. */
const MOST_SETS = 64;
const CONTRACT = Buffer.alloc(20, 0xc0);
const BLOCK_HASH = Buffer.alloc(32, 0xc0);

/** Jobs that prove the same sets of keys in different forms. */
interface Compared {
  readonly name: string;
  readonly single: readonly ProveJob[];
  readonly multi: readonly ProveJob[];
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
    const run = () => answer(jobs[round++ % jobs.length] as ProveJob);
    return {name, units: KEYS, run, hooks: {beforeAll: warmUp}};
  };
  return {
    tasks: compared.flatMap(({name, single, multi}) => [
      prove(`1 000 ${name}, single proofs`, single),
      prove(`1 000 ${name}, multiproof`, multi),
    ]),
    figures: () => compared.flatMap(one => compareSizes(one, answer)),
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
  return {
    name: "accounts",
    single: sets.map(set => packCalls(KEYS, i => ({block, address: set[i] as Buffer}))),
    multi: sets.map(set =>
      packEntries(
        block,
        ProofForm.MULTI_BYTES,
        set.map(address => ({address, slots: []})),
      ),
    ),
  };
}

function compareSlots(block: number, total: number): Compared {
  const sets = spreadSets(total).map(set => set.map(slotAt));
  const pack = (form: ProofForm) => sets.map(slots => packEntries(block, form, [{address: CONTRACT, slots}]));
  return {name: "slots", single: pack(ProofForm.PLAIN), multi: pack(ProofForm.MULTI_BYTES)};
}

function compareSizes({name, single, multi}: Compared, answer: (job: ProveJob) => Uint8Array): StageFigure[] {
  const [singles, bytes] = [answer(single[0] as ProveJob), answer(multi[0] as ProveJob)];
  const ratio = (part: Uint8Array, whole: Uint8Array): number => (100 * part.length) / whole.length;
  const against = "against single proofs";
  return [
    {name: `1 000 ${name}, single proofs`, value: singles.length, unit: "bytes"},
    {name: `1 000 ${name}, multiproof`, value: bytes.length, unit: "bytes"},
    {name: `1 000 ${name}, ${against}`, value: ratio(bytes, singles), unit: "percent"},
    {
      name: `1 000 ${name}, gzipped, ${against}`,
      value: ratio(gzipSync(bytes), gzipSync(singles)),
      unit: "percent",
    },
  ];
}
