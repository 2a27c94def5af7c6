/** What the layer-2 nodes of the bench have in common: a chain of token and ether transfers from its genesis. */
import {readContract} from "../../demo/artefact.ts";
import {toHex} from "../../storage/hex.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {balanceSlot, encodeTransfer, TOKEN} from "../stages/benchContracts.ts";

const TOKENS = `0x${(10n ** 24n).toString(16).padStart(64, "0")}`;
/** Accounts that receive something. */
const RECEIVERS = 1000;

export interface ChainNode {
  readonly server: ServerProcess;
  /** geth's genesis file of the chain. */
  readonly genesisPath: string;
  /** Makes the next block, of transfers. @returns its number */
  mine(): Promise<number>;
}

/** The token in the alloc of a genesis file. @param holders - addresses */
export function allocateToken(holders: readonly string[]): Readonly<Record<string, object>> {
  const storage = Object.fromEntries(
    holders.map(address => [toHex(balanceSlot(Buffer.from(address.slice(2), "hex"))), TOKENS]),
  );
  const code = `0x${readContract("DemoToken").deployedBytecode}`;
  return {[toHex(TOKEN)]: {balance: "0x0", nonce: "0x1", code, storage}};
}

type Hex = `0x${string}`;

/** Transfer `i` of the chain, to one receiver after the other: two of three are the token's. */
export function makeTransfer(i: number): Readonly<Record<string, Hex>> {
  const receiver = Buffer.alloc(20);
  receiver.writeUInt32BE(0xabcd_0000 + (i % RECEIVERS), 16);
  const fees = {maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00"} as const;
  if (i % 3 === 0) return {to: toHex(receiver) as Hex, value: "0x1", ...fees};
  return {to: toHex(TOKEN) as Hex, data: toHex(encodeTransfer(receiver, 1n)) as Hex, ...fees};
}
