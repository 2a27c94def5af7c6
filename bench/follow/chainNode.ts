/** What the layer-2 nodes of the bench have in common: a chain of transfers and creations from its genesis. */
import {encodeCreation} from "../../demo/abi.ts";
import {readContract} from "../../demo/artefact.ts";
import {toHex} from "../../storage/hex.ts";
import type {ServerProcess} from "../served/serverProcess.ts";
import {balanceSlot, encodeTransfer, TOKEN} from "../stages/benchContracts.ts";

const TOKENS = `0x${(10n ** 24n).toString(16).padStart(64, "0")}`;
/** Accounts that receive something. */
const RECEIVERS = 1000;
const TRANSFER_GAS = "0x186a0";
/** One creation in so many transactions. It takes 480 000 gas. */
const CREATED_EVERY = 10;
const CREATION_GAS = "0x927c0";

export interface ChainNode {
  readonly server: ServerProcess;
  /** geth's genesis file of the chain. */
  readonly genesisPath: string;
  /** Makes the next block. @returns its number */
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

const NEW_TOKEN = toHex(encodeCreation(readContract("DemoToken"), 10n ** 24n)) as Hex;

interface ChainTransaction {
  readonly gas: Hex;
  readonly maxFeePerGas: Hex;
  readonly maxPriorityFeePerGas: Hex;
  /** undefined: a creation. */
  readonly to?: Hex;
  readonly value?: Hex;
  readonly data?: Hex;
}

/**
 * Transaction `i` of the chain. Of thirty, three create a token of their own, eighteen transfer tokens, and nine send ether, to one
 * receiver after the other.
 */
export function makeTransaction(i: number): ChainTransaction {
  const receiver = Buffer.alloc(20);
  receiver.writeUInt32BE(0xabcd_0000 + (i % RECEIVERS), 16);
  const fees = {maxFeePerGas: "0x77359400", maxPriorityFeePerGas: "0x3b9aca00"} as const;
  if (i % CREATED_EVERY === CREATED_EVERY - 1) return {gas: CREATION_GAS, data: NEW_TOKEN, ...fees};
  const call =
    i % 3 === 0
      ? {to: toHex(receiver) as Hex, value: "0x1" as const}
      : {to: toHex(TOKEN) as Hex, data: toHex(encodeTransfer(receiver, 1n)) as Hex};
  return {gas: TRANSFER_GAS, ...call, ...fees};
}
