/** The blocks of the chain for wire tests: small, made of block differences, the same every time. */
import {createHash} from "node:crypto";
import type {DifferenceLine} from "./differenceLine.ts";

export const CHAIN_ID = "0x539";
/** The accounts of block 0. Each has the slots 1 to 3. */
export const ACCOUNTS: readonly string[] = Array.from({length: 40}, (_, at) =>
  hash(`account ${at}`).slice(0, 42),
);
/** An account that is in no block. */
export const ABSENT_ACCOUNT = `0x${"ee".repeat(20)}`;

export function hashOfBlock(number: number): string {
  return hash(`block ${number}`);
}

/** Block `number`; every block but the first changes the balance and slot 1 of five accounts. */
export function createLine(number: number, finalized?: number): DifferenceLine {
  const accounts: DifferenceLine["accounts"] = {};
  const count = number === 0 ? ACCOUNTS.length : 5;
  for (let at = 0; at < count; at++) {
    const storage = {"0x1": quantity(1 + number), ...(number === 0 ? {"0x2": "0x22", "0x3": "0x33"} : {})};
    accounts[ACCOUNTS[(at + number) % ACCOUNTS.length] as string] = {
      balance: quantity(1000 + number),
      storage,
    };
  }
  return {
    number: quantity(number),
    hash: hashOfBlock(number),
    ...(number === 0 ? {chainId: CHAIN_ID} : {parentHash: hashOfBlock(number - 1)}),
    timestamp: quantity(1_700_000_000 + number),
    ...(finalized === undefined ? {} : {finalized: quantity(finalized)}),
    accounts,
  };
}

export function createLines(first: number, last: number): DifferenceLine[] {
  return Array.from({length: last - first + 1}, (_, at) => createLine(first + at));
}

function hash(text: string): string {
  return `0x${createHash("sha256").update(text).digest("hex")}`;
}

function quantity(value: number): string {
  return `0x${value.toString(16)}`;
}
