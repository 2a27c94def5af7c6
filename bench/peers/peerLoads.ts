/** The loads of the comparison. Connections, calls per request and duration are the same for all servers. */
import type {KnownAccount} from "proofd-load";
import type {LoadChoice} from "../program/measuredLoad.ts";
import {SCENARIOS, type Scenario} from "../program/scenarios.ts";

export const PEER_NAMES = ["proofd", "anvil", "geth"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** Loads of geth, and of a proofd with the same chain. */
export const ETH_LOAD_NAMES = ["eth", "ethSlot", "ethBatch", "ethOld", "ethOldBatch"] as const;
export const LOAD_NAMES = ["account", "slot", "batch", "transfer", "erc20", ...ETH_LOAD_NAMES] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

export interface PeerLoad extends Pick<Scenario, "title" | "unit"> {
  /** Only of the servers that support this load. */
  readonly choices: Partial<Record<PeerName, LoadChoice>>;
}

/** @param slotAccounts - the only accounts of anvil. @param ethVerify - answers of eth_getProof to verify */
export function listLoads(
  {accounts, blocks}: {readonly accounts: number; readonly blocks: number},
  slotAccounts: readonly KnownAccount[],
  estimateParams: readonly string[],
  ethVerify: number,
): Readonly<Record<LoadName, PeerLoad>> {
  const numbered = {keys: {kind: "numbered", count: accounts}} as const;
  const listed = {
    keys: {kind: "list", name: "the accounts with slots", accounts: slotAccounts},
  } as const;
  const ofAnvil = {...listed, style: "eth"} as const;
  const trie = {...numbered, style: "eth", verify: ethVerify} as const;
  const withSlots = {...trie, ...listed};
  const old = {...trie, blocks: {from: 0, to: blocks}};
  const load = (name: LoadName, keys: PeerLoad["choices"]): PeerLoad => {
    const {choice, ...words} = SCENARIOS[name];
    const choices = Object.entries(keys).map(([peer, own]) => [peer, {...own, ...choice}]);
    return {...words, choices: Object.fromEntries(choices)};
  };
  return {
    account: load("account", {proofd: numbered, anvil: ofAnvil}),
    slot: load("slot", {proofd: listed, anvil: ofAnvil}),
    // Without anvil, which needs seconds per request: batches do not make its proofs cheaper.
    batch: load("batch", {proofd: numbered}),
    transfer: load("transfer", {proofd: listed, anvil: ofAnvil}),
    erc20: load("erc20", {proofd: {...listed, estimateParams}, anvil: {...ofAnvil, estimateParams}}),
    eth: load("eth", {proofd: trie, geth: trie}),
    ethSlot: load("ethSlot", {proofd: withSlots, geth: withSlots}),
    ethBatch: load("ethBatch", {proofd: trie, geth: trie}),
    ethOld: load("ethOld", {proofd: old, geth: old}),
    ethOldBatch: load("ethOldBatch", {proofd: old, geth: old}),
  };
}
