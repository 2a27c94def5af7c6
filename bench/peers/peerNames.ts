/** Names of the compared servers and of the loads. They are apart, so that flags are checked without loading the loads. */

export const PEER_NAMES = ["proofd", "naive", "anvil"] as const;

export type PeerName = (typeof PEER_NAMES)[number];

export const LOAD_NAMES = ["account", "slot", "batch", "transfer", "erc20"] as const;

export type LoadName = (typeof LOAD_NAMES)[number];
