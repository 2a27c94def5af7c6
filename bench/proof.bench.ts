/**
 * Proofs as finished JSON-RPC text, in process, without threads: 8 calls a task (the dispatcher makes up to 64).
 *
 * Every run takes other accounts and, for old blocks, other blocks, so that caches help as little as they would in
 * use. With one slot: the token contract and the balance of one of its holders, each with its path.
 */
import {Prover} from "../workers/prove/prover.ts";
import {absentAddressAt, addressAt} from "./benchChain.ts";
import {balanceSlot, HOLDERS, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import {type ProveCall, packCalls} from "./proveJobs.ts";
import {type BenchTask, INPUTS, type Stage, spread} from "./stage.ts";

const CALLS_PER_RUN = 8;

export function createProofStage({store, accounts, blocks}: BenchStore): Stage {
  const prover = new Prover(store);
  const present = Array.from({length: INPUTS}, (_, i) => addressAt(spread(i, accounts)));
  const absent = Array.from({length: INPUTS}, (_, i) => absentAddressAt(spread(i, accounts)));
  const slots = Array.from({length: HOLDERS}, (_, i) => balanceSlot(addressAt(i)));
  let round = 0;
  const prove = (name: string, makeCall: (i: number) => ProveCall): BenchTask => ({
    name,
    units: CALLS_PER_RUN,
    run: () => {
      const {failures} = prover.answer(packCalls(CALLS_PER_RUN, () => makeCall(round++)));
      if (failures.length > 0) throw new Error(failures[0]?.detail);
    },
  });
  const accountOf = (addresses: readonly Buffer[], i: number, block: number): ProveCall => ({
    block,
    address: addresses[i % INPUTS] as Buffer,
  });
  const slotOf = (i: number, block: number): ProveCall => ({
    block,
    address: TOKEN,
    slot: slots[spread(i, HOLDERS)],
  });
  const oldBlock = (i: number): number => spread(i, blocks + 1);
  return {
    tasks: [
      prove("account, head", i => accountOf(present, i, blocks)),
      prove("account, old blocks", i => accountOf(present, i, oldBlock(i))),
      prove("absent account, head", i => accountOf(absent, i, blocks)),
      prove("absent account, old blocks", i => accountOf(absent, i, oldBlock(i))),
      prove("account and 1 slot, head", i => slotOf(i, blocks)),
      prove("account and 1 slot, old blocks", i => slotOf(i, oldBlock(i))),
    ],
  };
}
