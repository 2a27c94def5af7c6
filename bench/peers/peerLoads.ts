/** The loads of the comparison: the same connections, calls per request and time for all servers. */

import type {LoadChoice} from "../served/measuredLoad.ts";
import type {LoadName, PeerName} from "./peerNames.ts";
import {listSlotAccounts, listTokenTransfers} from "./peerStore.ts";

export interface PeerLoad {
  readonly name: LoadName;
  readonly title: string;
  /** What is counted; CPU time is divided by the count. */
  readonly unit: "proof" | "estimate";
  /** A server that cannot do this load is not in the list. */
  readonly choices: Partial<Record<PeerName, LoadChoice>>;
}

const SINGLE = {connections: 64};
const BATCH = {connections: 16, batch: 100};

export function listLoads(accounts: number): PeerLoad[] {
  const numbered = {keys: {kind: "numbered", count: accounts}} as const;
  // anvil has only these accounts.
  const slotAccounts = {
    keys: {kind: "file", path: "the accounts with slots", accounts: listSlotAccounts(accounts)},
  } as const;
  const anvil = {...slotAccounts, style: "eth"} as const;
  const tokens = {estimateParams: listTokenTransfers()};
  const estimates = {...SINGLE, estimates: 1};
  return [
    {
      name: "account",
      title: "account, single",
      unit: "proof",
      choices: {
        proofd: {...numbered, ...SINGLE},
        naive: {...numbered, ...SINGLE},
        anvil: {...anvil, ...SINGLE},
      },
    },
    {
      name: "slot",
      title: "account + 1 slot, single",
      unit: "proof",
      choices: {
        proofd: {...slotAccounts, ...SINGLE, slots: 1},
        naive: {...slotAccounts, ...SINGLE, slots: 1},
        anvil: {...anvil, ...SINGLE, slots: 1},
      },
    },
    {
      name: "batch",
      title: "accounts, batches of 100",
      unit: "proof",
      // Without anvil: it takes seconds for one request, and a proof in a batch costs it the same.
      choices: {proofd: {...numbered, ...BATCH}, naive: {...numbered, ...BATCH}},
    },
    {
      name: "transfer",
      title: "estimate of a transfer",
      unit: "estimate",
      choices: {proofd: {...slotAccounts, ...estimates}, anvil: {...anvil, ...estimates}},
    },
    {
      name: "erc20",
      title: "estimate of an ERC-20 transfer",
      unit: "estimate",
      choices: {
        proofd: {...slotAccounts, ...estimates, ...tokens},
        anvil: {...anvil, ...estimates, ...tokens},
      },
    },
  ];
}
