/**
 * Proofs as finished JSON-RPC text, in process, without threads: 64 calls a task, as the dispatcher makes them.
 *
 * Every round takes other accounts and, for old blocks, other blocks, so that caches help as little as they would in use.
 */
import {Bench} from "tinybench";
import {CALL_HEAD_BYTES, type ProveJob} from "../workers/job.ts";
import {Prover} from "../workers/prove/prover.ts";
import {addressAt, type BenchStore, BLOCKS} from "./benchStore.ts";

export const CALLS_PER_TASK = 64;
/** Addresses that are asked for; making one takes as long as a tenth of a proof. */
const ASKED = 1 << 14;

export function createProofBench({store}: BenchStore, accounts: number, timeMs: number): Bench {
  const prover = new Prover(store);
  const present = Array.from({length: ASKED}, (_, i) => addressAt((i * 7919) % accounts));
  const absent = present.map(address => Buffer.from(address).fill(0xaa, 4, 8));
  let round = 0;
  const jobOf = (addresses: readonly Buffer[], block: () => number): ProveJob => {
    const calls = Buffer.alloc(CALLS_PER_TASK * CALL_HEAD_BYTES);
    for (let i = 0; i < CALLS_PER_TASK; i++) {
      calls.writeUIntBE(block(), i * CALL_HEAD_BYTES, 6);
      calls.set(addresses[round++ % ASKED] as Buffer, i * CALL_HEAD_BYTES + 6);
    }
    return {calls, ids: Array.from({length: CALLS_PER_TASK}, (_, i) => `${i}`)};
  };
  const head = (): number => BLOCKS;
  const anyBlock = (): number => Math.floor(Math.random() * (BLOCKS + 1));
  const prove = (addresses: readonly Buffer[], block: () => number): void => {
    const {failures} = prover.answer(jobOf(addresses, block));
    if (failures.length > 0) throw new Error(failures[0]?.detail);
  };
  const pair = new Uint8Array(64);
  const hash = new Uint8Array(32);
  return new Bench({time: timeMs, warmupTime: timeMs / 4})
    .add("hash 64 bytes, the yardstick", () => store.suite.hashPairsInto(pair, 1, hash))
    .add(`prove ${CALLS_PER_TASK} accounts, head`, () => prove(present, head))
    .add(`prove ${CALLS_PER_TASK} accounts, random old blocks`, () => prove(present, anyBlock))
    .add(`prove ${CALLS_PER_TASK} absent accounts, head`, () => prove(absent, head));
}
