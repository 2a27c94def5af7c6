/**
 * Proofs as finished JSON-RPC text in this process, without threads: 8 calls per task (the dispatcher makes up to 128).
 *
 * Every run takes other accounts and, for old blocks, other blocks, so caches help no more than in use. Before a task is
 * measured it goes through all its accounts once. This is the state of a server after some minutes: its threads know where
 * keys stand, and files are in the system's cache. A proof with one slot is for the token contract and the balance of one of
 * its holders, each with its path.
 */
import {Prover} from "../../workers/prove/prover.ts";
import {absentAddressAt, addressAt} from "./benchChain.ts";
import {balanceSlot, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import {type ProveCall, packCalls, prove} from "./proveJobs.ts";
import {type BenchTask, type Stage, spread} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

const CALLS_PER_RUN = 8;
/** Their leaf pages (80 MB for a million accounts) are more than a thread keeps. A store of fewer has them all asked for. */
const MOST_ASKED = 1 << 16;

export function createProofStage({store, accounts, blocks}: BenchStore): Stage {
  const prover = new Prover(store.reader);
  const asked = Math.min(MOST_ASKED, accounts);
  const present = Array.from({length: asked}, (_, i) => addressAt(spread(i, accounts)));
  const absent = Array.from({length: asked}, (_, i) => absentAddressAt(spread(i, accounts)));
  const slots = Array.from({length: HOLDERS}, (_, i) => balanceSlot(addressAt(i)));
  let round = 0;
  const ask = (name: string, makeCall: (i: number) => ProveCall): BenchTask => {
    const run = (): void => {
      prove(
        prover,
        packCalls(CALLS_PER_RUN, () => makeCall(round++)),
      );
    };
    let isWarm = false;
    const warmUp = (): void => {
      for (let i = 0; i < asked && !isWarm; i += CALLS_PER_RUN) run();
      isWarm = true;
    };
    return {name, units: CALLS_PER_RUN, run, hooks: {beforeAll: warmUp}};
  };
  const accountOf = (addresses: readonly Buffer[], i: number, block: number): ProveCall => ({
    block,
    address: addresses[i % asked] as Buffer,
  });
  const slotOf = (i: number, block: number): ProveCall => ({
    block,
    address: TOKEN,
    slot: slots[spread(i, HOLDERS)],
  });
  const oldBlock = (i: number): number => spread(i, blocks + 1);
  return {
    tasks: [
      ask("account, head", i => accountOf(present, i, blocks)),
      ask("account, old blocks", i => accountOf(present, i, oldBlock(i))),
      ask("absent account, head", i => accountOf(absent, i, blocks)),
      ask("absent account, old blocks", i => accountOf(absent, i, oldBlock(i))),
      ask("account and 1 slot, head", i => slotOf(i, blocks)),
      ask("account and 1 slot, old blocks", i => slotOf(i, oldBlock(i))),
    ],
  };
}
