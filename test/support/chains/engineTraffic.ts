/** What EngineChain's blocks do: everything that changes accounts and slots, by transactions and outside of them. */
import {encodeCall} from "../../../demo/abi.ts";
import {TOKEN} from "../demo/cast.ts";
import type {BlockPlan} from "./engineChain.ts";
import {ENGINE_TOKEN, type ForkBlocks, TOKENS} from "./engineGenesis.ts";
import {PEOPLE, type Sent} from "./people.ts";
import {DELEGATION_TRAFFIC, machine, STATE_TRAFFIC} from "./stateTraffic.ts";

/** EIP-7002: public key and amount. The fee is one wei while there are few requests. */
const WITHDRAWAL_REQUEST: Sent = {
  to: "0x00000961ef480eb55e80d19ad83579a64c007002",
  data: Buffer.concat([Buffer.alloc(48, 7), Buffer.alloc(8, 1)]),
  value: 1n,
};
/** EIP-7251: two public keys. */
const CONSOLIDATION_REQUEST: Sent = {
  to: "0x0000bbddc7ce488642fb579f8b00f3a590007251",
  data: Buffer.concat([Buffer.alloc(48, 7), Buffer.alloc(48, 8)]),
  value: 1n,
};
const STRANGER = `0x${"5a".repeat(20)}`;
const [RICH = "", OTHER = ""] = PEOPLE;

const STATE: readonly BlockPlan[] = STATE_TRAFFIC.map(([, transactions]) => ({transactions}));
const DELEGATIONS: readonly BlockPlan[] = DELEGATION_TRAFFIC.map(([, transactions]) => ({transactions}));

/** Under any fork: withdrawals, and blocks whose fee recipient does something else too. */
const OUTSIDE: readonly BlockPlan[] = [
  {
    withdrawals: [
      [STRANGER, 5],
      [RICH, 6],
      [STRANGER, 7],
      [machine, 8],
    ],
  },
  {withdrawals: [[`0x${"5b".repeat(20)}`, 0]]},
  {feeRecipient: RICH, transactions: [{to: STRANGER, value: 1n}]},
  {feeRecipient: machine, transactions: [{from: 1, to: machine, value: 1n}]},
  {feeRecipient: `0x${"5c".repeat(20)}`, withdrawals: [[`0x${"5c".repeat(20)}`, 1]]},
  {feeRecipient: OTHER, transactions: [{from: 1, to: OTHER, value: 3n}], withdrawals: [[OTHER, 1]]},
];

/** The last one is more than the sender has. */
const TOKEN_TRANSFERS: readonly BlockPlan[] = [
  {transactions: [transfer(0, STRANGER, 400n), transfer(1, RICH, TOKENS), transfer(0, STRANGER, 1n)]},
  {transactions: [transfer(0, OTHER, TOKENS), transfer(1, RICH, 1n), transfer(2, STRANGER, TOKENS + 1n)]},
];

/** From cancun on. The last block takes the blobs' cost per gas down again. */
const BLOBS: readonly BlockPlan[] = [
  {
    transactions: [
      {to: STRANGER, value: 1n, blobs: 1},
      {from: 1, to: machine, blobs: 2},
    ],
  },
  {},
];

/** Blobs too, which geth 1.17 takes from its pool under osaka only. */
const FROM_POOL: BlockPlan = {
  transactions: [
    {to: STRANGER, value: 1n, blobs: 3},
    {from: 1, to: STRANGER, value: 1n},
  ],
  isFromPool: true,
};

/** From prague on: requests to the consensus layer, and the blocks that take them from the queues. */
const REQUESTS: readonly BlockPlan[] = [
  {transactions: [WITHDRAWAL_REQUEST, CONSOLIDATION_REQUEST, {...WITHDRAWAL_REQUEST, from: 1}]},
  {},
  {transactions: Array.from({length: 5}, () => CONSOLIDATION_REQUEST)},
  {},
];

const ERAS = {
  shanghai: [...STATE, ...OUTSIDE, ...TOKEN_TRANSFERS],
  cancun: [...BLOBS, ...STATE, ...OUTSIDE],
  prague: [...TOKEN_TRANSFERS, ...DELEGATIONS, ...REQUESTS, ...STATE],
  osaka: [...BLOBS, FROM_POOL, ...DELEGATIONS, ...REQUESTS, ...OUTSIDE],
};

/** The chain's blocks after block 0, and where its forks begin. */
export const ENGINE_TRAFFIC: readonly BlockPlan[] = Object.values(ERAS).flat();
export const ENGINE_FORKS: ForkBlocks = {
  cancun: 1 + ERAS.shanghai.length,
  prague: 1 + ERAS.shanghai.length + ERAS.cancun.length,
  osaka: 1 + ENGINE_TRAFFIC.length - ERAS.osaka.length,
};

export function ownAccount(branch: number): string {
  return `0x${(0xb0b000 + branch).toString(16).padStart(40, "0")}`;
}

/** So many blocks that differ from branch to branch. Each makes other changes to the same contracts. */
export function branchTraffic(branch: number, count: number, isPrague = false): BlockPlan[] {
  const plans = [...STATE, ...OUTSIDE, ...(isPrague ? DELEGATIONS : [])];
  return Array.from({length: count}, (_, at) => {
    const {transactions = [], ...rest} = plans[(7 * branch + 11 * at) % plans.length] as BlockPlan;
    return {...rest, transactions: [{to: ownAccount(branch), value: BigInt(1 + at)}, ...transactions]};
  });
}

/** Accounts that come, are empty, and go. Every other one is in block 0, and empty. */
export const PASSING: readonly string[] = Array.from({length: 24}, (_, at) => ownAccount(0x10_0000 + at));

export function allocatePassing(): object {
  return Object.fromEntries(PASSING.filter((_, at) => at % 2 === 0).map(own => [own, {balance: "0x0"}]));
}

/** Blocks of everything that works under any fork, by chance, and payments of one wei or nothing to PASSING. */
export function randomPlans(count: number, below: (limit: number) => number): BlockPlan[] {
  const plans = [...STATE, ...OUTSIDE, ...TOKEN_TRANSFERS];
  return Array.from({length: count}, () => {
    const chosen = Array.from({length: below(4)}, () => plans[below(plans.length)] as BlockPlan);
    const payments = Array.from({length: below(4)}, () => ({
      ...{from: below(PEOPLE.length), to: PASSING[below(PASSING.length)] as string},
      value: BigInt(below(2)),
    }));
    const transactions = [...payments, ...chosen.flatMap(plan => plan.transactions ?? [])];
    return {...chosen[0], transactions};
  });
}

function transfer(from: number, to: string, amount: bigint): Sent {
  const data = encodeCall(TOKEN, "transfer(address,uint256)", Buffer.from(to.slice(2), "hex"), amount);
  return {from, to: ENGINE_TOKEN, data};
}
