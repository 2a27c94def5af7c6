/** The loads of the comparison: the same connections, calls per request and time for all servers. */
import type {LoadChoice} from "../program/measuredLoad.ts";
import {SCENARIOS, type Scenario} from "../program/scenarios.ts";
import type {LoadName, PeerName} from "./peerOptions.ts";
import {listSlotAccounts, listTokenTransfers} from "./peerStore.ts";

export interface PeerLoad extends Pick<Scenario, "title" | "unit"> {
  readonly name: LoadName;
  /** A server that cannot do this load is not in the list. */
  readonly choices: Partial<Record<PeerName, LoadChoice>>;
}

export function listLoads(accounts: number): PeerLoad[] {
  const numbered = {keys: {kind: "numbered", count: accounts}} as const;
  // anvil has only these accounts.
  const slotAccounts = {
    keys: {kind: "list", name: "the accounts with slots", accounts: listSlotAccounts(accounts)},
  } as const;
  const anvil = {...slotAccounts, style: "eth"} as const;
  const tokens = {estimateParams: listTokenTransfers()};
  const create = (
    name: LoadName,
    keys: Readonly<Partial<Record<PeerName, LoadChoice>>>,
    more: Partial<LoadChoice> = {},
  ): PeerLoad => {
    const {choice, ...words} = SCENARIOS[name];
    const choices = Object.entries(keys).map(([peer, own]) => [peer, {...own, ...choice, ...more}]);
    return {name, ...words, choices: Object.fromEntries(choices)};
  };
  return [
    create("account", {proofd: numbered, naive: numbered, anvil}),
    create("slot", {proofd: slotAccounts, naive: slotAccounts, anvil}),
    // Without anvil: it takes seconds for one request, and a proof in a batch costs it the same.
    create("batch", {proofd: numbered, naive: numbered}),
    create("transfer", {proofd: slotAccounts, anvil}),
    create("erc20", {proofd: slotAccounts, anvil}, tokens),
  ];
}
