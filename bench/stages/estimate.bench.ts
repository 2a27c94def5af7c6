/**
 * Gas estimates on one thread, in this process. Each has a new receiver, so that each ERC-20 transfer creates a
 * balance.
 */
import {Estimator} from "../../workers/estimate/estimator.ts";
import type {EstimateCall} from "../../workers/messages/estimateCall.ts";
import {DEFAULT_ESTIMATE_SETTINGS} from "../../workers/messages/estimateSettings.ts";
import {addressAt} from "./benchChain.ts";
import {encodeFill, encodeTransfer, LEDGER, sha256, TOKEN} from "./benchContracts.ts";
import type {BenchStore} from "./benchStore.ts";
import type {BenchTask, Stage} from "./stage.ts";
import {HOLDERS} from "./storeSize.ts";

/** 2 million gas of storage writes. */
const HEAVY_SLOTS = 90n;
const NO_BYTES = new Uint8Array(0);

export function createEstimateStage({store, blocks}: BenchStore): Stage {
  const estimator = new Estimator(store.reader, DEFAULT_ESTIMATE_SETTINGS, undefined);
  let round = 0;
  const callTo = (to: Uint8Array, data: Uint8Array, value = 0n): EstimateCall => ({
    block: blocks,
    from: addressAt(round++ % HOLDERS),
    to,
    value,
    data,
  });
  const newAccount = (): Buffer => sha256(`receiver ${round}`).subarray(0, 20);
  const task = (name: string, makeCall: () => EstimateCall): BenchTask => ({
    name,
    units: 1,
    run: async () => estimator.estimate(makeCall()),
  });
  return {
    tasks: [
      task("estimate a transfer", () => callTo(newAccount(), NO_BYTES, 1n)),
      task("estimate an ERC-20 transfer", () => callTo(TOKEN, encodeTransfer(newAccount(), 5n))),
      task(`estimate a heavy call, ${HEAVY_SLOTS} slots`, () => callTo(LEDGER, encodeFill(HEAVY_SLOTS))),
    ],
  };
}
