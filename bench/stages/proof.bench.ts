/**
 * Proofs as JSON-RPC text, made in this process: 8 calls per task (the dispatcher sends up to 128).
 *
 * Each run takes other accounts and, for old blocks, other blocks, so that caches help no more than in production.
 * Before it is measured, a task goes through all its accounts once, which is the state of a server after some minutes:
 * its threads have cached the positions of keys, and the system has cached files. A proof with a slot is of the token
 * contract and a holder's balance.
 *
 * Multiproof: time and bytes of 1 000 random accounts at the head, in one multiproof and in single proofs.
 */
import {gzipSync} from "node:zlib";
import {Prover} from "../../workers/prove/prover.ts";
import {absentAddressAt, addressAt} from "./benchChain.ts";
import {balanceSlot, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import {type Entry, packCalls, packMultiProof, prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread, taskOf} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

const CALLS_PER_RUN = 8;
/** Different accounts. Their leaf pages (80 MB in a store of a million accounts) exceed the cache of a thread. */
const MOST_ASKED = 1 << 16;
const KEYS = 1000;

export function createProofStage({store, accounts, blocks}: BenchStore): Stage {
  const prover = new Prover(store.reader);
  const asked = Math.min(MOST_ASKED, accounts);
  const present = Array.from({length: asked}, (_, i) => addressAt(spread(i, accounts)));
  const absent = Array.from({length: asked}, (_, i) => absentAddressAt(spread(i, accounts)));
  const slots = Array.from({length: HOLDERS}, (_, i) => balanceSlot(addressAt(i)));
  let round = 0;
  const ask = (name: string, keyOf: (i: number) => Omit<Entry, "block">): BenchTask[] => {
    const task = (when: string, blockOf: (i: number) => number): BenchTask => {
      const next = () => ({...keyOf(round), block: blockOf(round++)});
      const run = (): void => {
        prove(prover, packCalls(Array.from({length: CALLS_PER_RUN}, next)));
      };
      let isWarm = false;
      const warmUp = (): void => {
        for (let i = 0; i < asked && !isWarm; i += CALLS_PER_RUN) run();
        isWarm = true;
      };
      return {name: `${name}, ${when}`, units: CALLS_PER_RUN, run, hooks: {beforeAll: warmUp}};
    };
    return [task("head", () => blocks), task("old blocks", i => spread(i, blocks + 1))];
  };
  return {
    tasks: [
      ...ask("account", i => ({address: present[i % asked] as Buffer})),
      ...ask("absent account", i => ({address: absent[i % asked] as Buffer})),
      ...ask("account and 1 slot", i => ({address: TOKEN, slot: slots[spread(i, HOLDERS)]})),
    ],
  };
}

export function createMultiproofStage({store, accounts, blocks: block}: BenchStore): Stage {
  const prover = new Prover(store.reader);
  const sets = Array.from({length: Math.min(MOST_ASKED / KEYS, Math.ceil(accounts / KEYS))}, (_, set) =>
    Array.from({length: KEYS}, (_, i) => ({block, address: addressAt(spread(set * KEYS + i, accounts))})),
  );
  const kinds = [
    {name: "single proofs", jobs: sets.map(packCalls)},
    {name: "multiproof", jobs: sets.map(packMultiProof)},
  ];
  return {
    tasks: kinds.map(({name, jobs}) =>
      taskOf(`${KEYS} accounts, ${name}`, KEYS, jobs, job => prove(prover, job)),
    ),
    figures: () => {
      const [singles = Buffer.of(), bytes = Buffer.of()] = kinds.map(({jobs: [job]}) =>
        job === undefined ? undefined : Buffer.from(prove(prover, job)),
      );
      const ratio = (part: Buffer, whole: Buffer): number => (100 * part.length) / whole.length;
      return [
        {name: "single proofs", value: singles.length, unit: "bytes"},
        {name: "multiproof", value: bytes.length, unit: "bytes"},
        {name: "multiproof against single proofs", value: ratio(bytes, singles), unit: "percent"},
        {name: "... both gzipped", value: ratio(gzipSync(bytes), gzipSync(singles)), unit: "percent"},
      ];
    },
  };
}
