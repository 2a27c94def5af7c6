/** The loads of the comparison: the same connections, calls per request and time for all servers. */
import type {KnownAccount} from "proofd-load";
import type {LoadChoice} from "../program/measuredLoad.ts";
import {SCENARIOS, type Scenario} from "../program/scenarios.ts";

export const PEER_NAMES = ["proofd", "naive", "anvil"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

export const LOAD_NAMES = ["account", "slot", "batch", "eth", "ethBatch", "transfer", "erc20"] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

export interface PeerLoad extends Pick<Scenario, "title" | "unit"> {
  /** A server that cannot do this load is not in the list. */
  readonly choices: Partial<Record<PeerName, LoadChoice>>;
}

/** @param slotAccounts - anvil has only these. @param estimateParams - of token transfers */
export function listLoads(
  accounts: number,
  slotAccounts: readonly KnownAccount[],
  estimateParams: readonly string[],
): Readonly<Record<LoadName, PeerLoad>> {
  const numbered = {keys: {kind: "numbered", count: accounts}} as const;
  const listed = {
    keys: {kind: "list", name: "the accounts with slots", accounts: slotAccounts},
  } as const;
  const ofAnvil = {...listed, style: "eth"} as const;
  // The store's blocks have no headers to verify the answers with.
  const trie = {...numbered, style: "eth", verify: 0} as const;
  const load = (name: LoadName, keys: PeerLoad["choices"]): PeerLoad => {
    const {choice, ...words} = SCENARIOS[name];
    const choices = Object.entries(keys).map(([peer, own]) => [peer, {...own, ...choice}]);
    return {...words, choices: Object.fromEntries(choices)};
  };
  return {
    account: load("account", {proofd: numbered, naive: numbered, anvil: ofAnvil}),
    slot: load("slot", {proofd: listed, naive: listed, anvil: ofAnvil}),
    // Without anvil: it takes seconds for one request, and a proof in a batch costs it the same.
    batch: load("batch", {proofd: numbered, naive: numbered}),
    eth: load("eth", {proofd: trie, anvil: ofAnvil}),
    ethBatch: load("ethBatch", {proofd: trie}),
    transfer: load("transfer", {proofd: listed, anvil: ofAnvil}),
    erc20: load("erc20", {proofd: {...listed, estimateParams}, anvil: {...ofAnvil, estimateParams}}),
  };
}
