/**
 * A multiproof of 1 000 random accounts of block 0 at the head, against the single proofs of the same accounts, in this process, without
 * threads: time and bytes.
 *
 * Each run takes other accounts. Before a task is measured it goes through all of them once.
 */
import {gzipSync} from "node:zlib";
import {ProofForm} from "../../workers/messages/packedCall.ts";
import type {ProveJob} from "../../workers/messages/proveJob.ts";
import {Prover} from "../../workers/prove/prover.ts";
import {addressAt} from "./benchChain.ts";
import type {BenchStore} from "./benchStore.ts";
import {packCalls, packEntries, prove} from "./proveJobs.ts";
import {type Stage, spread, taskOf} from "./stage.ts";

const KEYS = 1000;
/** Sets of accounts. Their leaf pages are more than a thread keeps. A small store has no more accounts than for a few. */
const MOST_SETS = 64;

export function createMultiproofStage({store, accounts, blocks: block}: BenchStore): Stage {
  const prover = new Prover(store.reader);
  const sets = Array.from({length: Math.min(MOST_SETS, Math.ceil(accounts / KEYS))}, (_, set) =>
    Array.from({length: KEYS}, (_, i) => addressAt(spread(set * KEYS + i, accounts))),
  );
  const single = sets.map(set => packCalls(KEYS, i => ({block, address: set[i] as Buffer})));
  const multi = sets.map(set => {
    const entries = set.map(address => ({address, slots: []}));
    return packEntries(block, ProofForm.MULTI_BYTES, entries);
  });
  const answer = (job: ProveJob) => prove(prover, job);
  return {
    tasks: [
      taskOf(`${KEYS} accounts, single proofs`, KEYS, single, answer),
      taskOf(`${KEYS} accounts, multiproof`, KEYS, multi, answer),
    ],
    figures: () => {
      const singles = new Uint8Array(answer(single[0] as ProveJob));
      const bytes = answer(multi[0] as ProveJob);
      const ratio = (part: Uint8Array, whole: Uint8Array): number => (100 * part.length) / whole.length;
      return [
        {name: "single proofs", value: singles.length, unit: "bytes"},
        {name: "multiproof", value: bytes.length, unit: "bytes"},
        {name: "multiproof against single proofs", value: ratio(bytes, singles), unit: "percent"},
        {
          name: "... both gzipped",
          value: ratio(gzipSync(bytes), gzipSync(singles)),
          unit: "percent",
        },
      ];
    },
  };
}
