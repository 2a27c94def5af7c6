/**
 * Gas estimates in this process on one thread: whole estimates, the EVM's part of them, and plain bisection of the same call.
 *
 * Every round takes another receiver, so each ERC-20 transfer creates a new balance.
 */
import {createHash} from "node:crypto";
import {Simulation} from "../../workers/estimate/call/simulation.ts";
import {Estimator} from "../../workers/estimate/estimator.ts";
import {Deadline} from "../../workers/estimate/evm/deadline.ts";
import {ForkEvms} from "../../workers/estimate/evm/forkEvms.ts";
import type {EstimateCall} from "../../workers/job/estimateCall.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../workers/job/estimateSettings.ts";
import {addressAt} from "./benchChain.ts";
import {encodeFill, encodeTransfer, LEDGER, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import type {BenchTask, Stage} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

/** 2 million gas of storage writes. */
const HEAVY_SLOTS = 90n;
/** Enough to find a limit below 50 million to within 48 gas. */
const BISECTION_RUNS = 20;
/** Enough for one run of every call. */
const RUN_GAS = 16_000_000n;
const NO_BYTES = new Uint8Array(0);

export function createEstimateStage({store, blocks}: BenchStore): Stage {
  const estimator = new Estimator(store.reader, DEFAULT_ESTIMATE_SETTINGS, undefined);
  const evms = new ForkEvms({
    store: store.reader,
    deadline: new Deadline(60_000),
    hardfork: undefined,
    chainId: undefined,
    gasCap: BigInt(DEFAULT_ESTIMATE_SETTINGS.gasCap),
  });
  let round = 0;
  const callTo = (to: Uint8Array, data: Uint8Array, value = 0n): EstimateCall => ({
    block: blocks,
    from: addressAt(round++ % HOLDERS),
    to,
    value,
    data,
  });
  const newAccount = (): Buffer => createHash("sha256").update(`receiver ${round}`).digest().subarray(0, 20);
  const transfer = (): EstimateCall => callTo(newAccount(), NO_BYTES, 1n);
  const tokenTransfer = (): EstimateCall => callTo(TOKEN, encodeTransfer(newAccount(), 5n));
  const heavy = (): EstimateCall => callTo(LEDGER, encodeFill(HEAVY_SLOTS));
  const simulate = (call: EstimateCall): Simulation => {
    const {forkEvm, context} = evms.at(store.reader.blockOrThrow(call.block));
    forkEvm.deadline.start();
    return new Simulation(call, forkEvm, context, 0n);
  };
  const runOnce = async (call: EstimateCall): Promise<void> => {
    const {failure} = await simulate(call).run(RUN_GAS);
    if (failure !== undefined) throw new Error(failure.reason);
  };
  const task = (name: string, run: () => Promise<unknown>): BenchTask => ({
    name,
    units: 1,
    run: async () => {
      await run();
    },
  });
  return {
    tasks: [
      task("estimate a transfer", () => estimator.estimate(transfer())),
      task("estimate an ERC-20 transfer", () => estimator.estimate(tokenTransfer())),
      task("EVM: the ERC-20 transfer once", () => runOnce(tokenTransfer())),
      task(`bisect the ERC-20 transfer, ${BISECTION_RUNS} runs`, () => bisect(simulate(tokenTransfer()))),
      task(`estimate a heavy call, ${HEAVY_SLOTS} slots`, () => estimator.estimate(heavy())),
      task("EVM: the heavy call once", () => runOnce(heavy())),
    ],
  };
}

/** How a gas limit is found without the figures of a first run. */
async function bisect(simulation: Simulation): Promise<void> {
  let low = 21_000n;
  let high = BigInt(DEFAULT_ESTIMATE_SETTINGS.gasCap);
  for (let run = 0; run < BISECTION_RUNS; run++) {
    const middle = (low + high) / 2n;
    if ((await simulation.run(middle)).failure === undefined) high = middle;
    else low = middle;
  }
}
