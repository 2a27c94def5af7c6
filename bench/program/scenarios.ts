/** The loads that `npm run bench:peers` and `npm run bench:service` share. */
import type {LoadChoice} from "./measuredLoad.ts";

/** The measurements of service/serviceRun.ts, in this order. */
export const SERVICE_NAMES = ["memory", "tail", "loops", "import", "pull", "feed"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

export interface Scenario {
  readonly title: string;
  readonly unit: "proof" | "estimate";
  readonly choice: Omit<LoadChoice, "keys">;
}

const LOOP = `0x${"99".repeat(20)}`;
/** Parameters of an endless chain_estimateGas: JUMPDEST PUSH1 0 JUMP, by a state override. */
const ENDLESS = JSON.stringify([{to: LOOP}, "latest", {[LOOP]: {code: "0x5b600056"}}]);

export const SCENARIOS = {
  account: {title: "account, single", unit: "proof", choice: {connections: 64}},
  slot: {title: "account + 1 slot, single", unit: "proof", choice: {connections: 64, slots: 1}},
  batch: {title: "accounts, batches of 100", unit: "proof", choice: {connections: 16, batch: 100}},
  eth: {title: "eth_getProof, single", unit: "proof", choice: {connections: 64}},
  ethSlot: {title: "eth_getProof + 1 slot, single", unit: "proof", choice: {connections: 64, slots: 1}},
  ethBatch: {title: "eth_getProof, batches of 100", unit: "proof", choice: {connections: 16, batch: 100}},
  ethOld: {title: "eth_getProof, single, old blocks", unit: "proof", choice: {connections: 64}},
  ethOldBatch: {
    title: "... batches of 100, old blocks",
    unit: "proof",
    choice: {connections: 16, batch: 100},
  },
  clients: {title: "account, single, 1 000 connections", unit: "proof", choice: {connections: 1000}},
  transfer: {title: "estimate of a transfer", unit: "estimate", choice: {connections: 64, estimates: 1}},
  erc20: {title: "estimate of an ERC-20 transfer", unit: "estimate", choice: {connections: 64, estimates: 1}},
  // The calls run until the server stops them, and are sent again at once.
  endless: {
    title: "endless estimates at 64 connections",
    unit: "estimate",
    choice: {
      connections: 64,
      estimates: 1,
      estimateParams: [ENDLESS],
      warmUpSeconds: 0,
      timeoutMs: 60_000,
      verify: 0,
    },
  },
} as const satisfies Readonly<Record<string, Scenario>>;
