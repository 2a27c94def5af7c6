/** The loads of the comparison. Connections, calls per request and duration are the same for all servers. */
import type {KnownAccount} from "proofd-load";
import type {LoadChoice} from "../program/measuredLoad.ts";

export const PEER_NAMES = ["proofd", "anvil", "geth"] as const;
export type PeerName = (typeof PEER_NAMES)[number];

/** Loads of geth, and of a proofd with the same chain. */
export const ETH_LOAD_NAMES = [
  "eth",
  "ethSlot",
  "ethBatch",
  "ethOld",
  "ethOldBatch",
  "call",
  "callOld",
] as const;
export const LOAD_NAMES = ["account", "slot", "batch", "transfer", "erc20", ...ETH_LOAD_NAMES] as const;
export type LoadName = (typeof LOAD_NAMES)[number];

export interface PeerLoad {
  readonly title: string;
  /** An estimate is a call too. */
  readonly unit: "proof" | "call";
  /** Only of the servers that support this load. */
  readonly choices: Partial<Record<PeerName, LoadChoice>>;
}

/** @param slotAccounts - the only accounts of anvil. @param ethVerify - answers of eth_getProof to verify */
export function listLoads(
  {accounts, blocks}: {readonly accounts: number; readonly blocks: number},
  slotAccounts: readonly KnownAccount[],
  estimateParams: readonly string[],
  listCalls: (blocks: number | undefined) => readonly string[],
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
  const load = (title: string, choice: Partial<LoadChoice>, keys: PeerLoad["choices"]): PeerLoad => {
    const choices = Object.entries(keys).map(([peer, own]) => [peer, {...own, connections: 64, ...choice}]);
    const unit = choice.estimates === undefined ? "proof" : "call";
    return {title, unit, choices: Object.fromEntries(choices)};
  };
  const batch = {connections: 16, batch: 100};
  const estimates = {estimates: 1};
  const call = (title: string, blocks: number | undefined, ...peers: readonly PeerName[]) => {
    const called = {...estimates, estimateMethod: "eth_call", estimateParams: listCalls(blocks)};
    const choice = {...listed, style: "eth", verify: 0} as const;
    return load(title, called, Object.fromEntries(peers.map(peer => [peer, choice])));
  };
  return {
    account: load("account, single", {}, {proofd: numbered, anvil: ofAnvil}),
    slot: load("account + 1 slot, single", {slots: 1}, {proofd: listed, anvil: ofAnvil}),
    // Without anvil, which needs seconds per request: batches do not make its proofs cheaper.
    batch: load("accounts, batches of 100", batch, {proofd: numbered}),
    transfer: load("estimate of a transfer", estimates, {proofd: listed, anvil: ofAnvil}),
    erc20: load("estimate of an ERC-20 transfer", estimates, {
      proofd: {...listed, estimateParams},
      anvil: {...ofAnvil, estimateParams},
    }),
    eth: load("eth_getProof, single", {}, {proofd: trie, geth: trie}),
    ethSlot: load("eth_getProof + 1 slot, single", {slots: 1}, {proofd: withSlots, geth: withSlots}),
    ethBatch: load("eth_getProof, batches of 100", batch, {proofd: trie, geth: trie}),
    ethOld: load("eth_getProof, single, old blocks", {}, {proofd: old, geth: old}),
    ethOldBatch: load("... batches of 100, old blocks", batch, {proofd: old, geth: old}),
    call: call("eth_call of balanceOf", undefined, "proofd", "anvil", "geth"),
    // anvil has no history.
    callOld: call("eth_call of balanceOf, old blocks", blocks, "proofd", "geth"),
  };
}
