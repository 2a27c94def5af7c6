/** What OpChain's blocks do: deposits, withdrawals, fees, and everything that ordinary transactions change. */
import {word} from "../../../client/hash/hashSuites.ts";
import type {OpPlan} from "./opChain.ts";
import {type Deposit, number, selector} from "./opDeposits.ts";
import type {OpForkBlocks} from "./opGenesis.ts";
import {PEOPLE, type Sent} from "./people.ts";
import {DELEGATION_TRAFFIC, machine, STATE_TRAFFIC} from "./stateTraffic.ts";

export const PASSER = "0x4200000000000000000000000000000000000016";
/** Of the sequencer, the base fee, layer 1 and the operator. */
export const VAULTS: readonly string[] = ["11", "19", "1a", "1b"].map(end => `0x42${"0".repeat(36)}${end}`);
const ALIAS = `0x1111${"a1".repeat(18)}`;
const STRANGER = `0x${"5a".repeat(20)}`;
/** Returns a byte of code. */
const CREATION = Buffer.from("60005f5360015ff3", "hex");
const OLD_CREATION = Buffer.from("600060005360016000f3", "hex");

/** Those of AT_ONCE, in the order of its receipts. */
export const DEPOSITS: Readonly<Record<string, Deposit>> = {
  mint: {from: ALIAS, to: STRANGER, mint: 10n ** 18n, value: 7n},
  mintOnly: {from: `0x1111${"a2".repeat(18)}`, to: STRANGER, mint: 5n},
  nothing: {from: `0x1111${"a3".repeat(18)}`, to: `0x${"5b".repeat(20)}`},
  withoutFunds: {from: `0x1111${"a4".repeat(18)}`, to: STRANGER, value: 10n ** 20n},
  mintWithoutFunds: {from: `0x1111${"a5".repeat(18)}`, to: STRANGER, mint: 3n, value: 10n ** 18n},
  creation: {from: ALIAS, data: OLD_CREATION, value: 1n},
  outOfGas: {from: ALIAS, to: PASSER, gas: 22_000n, data: withdrawalData(STRANGER, 1)},
  withdrawal: {from: ALIAS, to: PASSER, value: 9n, data: withdrawalData(STRANGER, 2)},
  ofAPerson: {from: PEOPLE[2] as string, to: machine, value: 2n},
};

function withdraw(at: number): Sent {
  return {from: at % PEOPLE.length, to: PASSER, value: BigInt(at), data: withdrawalData(STRANGER, at)};
}

function withdrawalData(to: string, at: number): Uint8Array {
  const data = Buffer.from(`withdrawal ${at}`);
  return Buffer.concat([
    selector("initiateWithdrawal(address,uint256,bytes)"),
    ...[number(BigInt(to), 32), number(100_000, 32), number(96, 32)],
    ...[number(data.length, 32), data, Buffer.alloc((32 - (data.length % 32)) % 32)],
  ]);
}

/** Each block also deposits something. */
export function withdrawals(first: number, count: number, perBlock: number): OpPlan[] {
  const kinds = Object.values(DEPOSITS);
  return Array.from({length: count / perBlock}, (_, block) => ({
    deposits: [kinds[block % kinds.length] as Deposit],
    transactions: Array.from({length: perBlock}, (_, at) => withdraw(first + block * perBlock + at)),
  }));
}

/** A contract destroys itself in its creation, and one that is there before, into each vault. */
const INTO_VAULTS: readonly OpPlan[] = VAULTS.map(vault => ({
  transactions: [
    {data: Buffer.concat([Buffer.of(0x73), number(BigInt(vault), 20), Buffer.of(0xff)]), value: 11n},
    {from: 1, to: machine, value: 5n},
    {to: machine, data: Buffer.from(word(BigInt(vault)))},
  ],
}));

const STATE: readonly OpPlan[] = STATE_TRAFFIC.map(([, transactions]) => ({transactions}));
const DELEGATIONS: readonly OpPlan[] = DELEGATION_TRAFFIC.map(([, transactions]) => ({transactions}));
const ONE_BY_ONE: readonly OpPlan[] = Object.values(DEPOSITS).map(deposit => ({deposits: [deposit]}));
/** Where destruction was not yet limited to contracts that were made in the same transaction, it is gone. */
const MACHINE_AGAIN: OpPlan = {
  transactions: STATE_TRAFFIC.find(([title]) => title === "it is made again")?.[1] ?? [],
};
const AT_ONCE: OpPlan = {
  deposits: Object.values(DEPOSITS),
  transactions: [
    {to: STRANGER, value: 1n},
    {from: 1, data: CREATION},
  ],
};
const PAYMENT: OpPlan = {transactions: [{to: STRANGER, value: 1n}]};

const ERAS = {
  regolith: [PAYMENT, ...ONE_BY_ONE],
  canyon: [...STATE, ...INTO_VAULTS],
  ecotone: [MACHINE_AGAIN, AT_ONCE, ...withdrawals(0, 50, 25)],
  holocene: [...ONE_BY_ONE, ...INTO_VAULTS, PAYMENT],
  isthmus: [PAYMENT, ...DELEGATIONS, AT_ONCE],
  // Its first block has deposits only.
  jovian: [{}, ...withdrawals(50, 50, 10), ...INTO_VAULTS, ...DELEGATIONS],
};

/** The chain's blocks after block 0, and where its forks begin. */
export const OP_TRAFFIC: readonly OpPlan[] = Object.values(ERAS).flat();
export const OP_FORKS: OpForkBlocks = (() => {
  let next = 1 + ERAS.regolith.length;
  const first: Record<string, number> = {};
  for (const fork of ["canyon", "ecotone", "holocene", "isthmus", "jovian"] as const) {
    first[fork] = next;
    next += ERAS[fork].length;
  }
  return first as OpForkBlocks;
})();
