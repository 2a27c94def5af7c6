/**
 * Compares values that are held here with those of a node, as of one block: balance, nonce and code of accounts, and slots.
 *
 * It tells whether a source that is trusted (traces, trie logs) gave everything that the blocks changed. All answers come
 * from one node. Its block is read before and after the values, so that a reorganisation between is not taken for a
 * difference.
 */
import {toHex} from "../../storage/hex.ts";
import {parseBytes, parseFixedBytes, parseObject, parseQuantity} from "../rpc/answerValues.ts";
import {type Node, type NodeCall, NodeRefusal} from "../rpc/node.ts";

/** An account, and the slots of it that are compared too. */
export interface AuditSubject {
  /** 20 bytes. */
  readonly address: Uint8Array;
  /** 32 bytes each. */
  readonly slots: readonly Uint8Array[];
}

/** What is held here as of one block. storage/block/heldValues.ts reads it from a store. */
export interface HeldState {
  readonly block: number;
  /** 32 bytes. */
  readonly blockHash: Uint8Array;
  /** An account that is not there has zeros and no code. @param address - 20 bytes */
  readAccount(address: Uint8Array): {
    readonly nonce: bigint;
    readonly balance: bigint;
    readonly code: Uint8Array;
  };
  /** @param slot - 32 bytes. @returns 0 for a slot that is not there */
  readSlot(address: Uint8Array, slot: Uint8Array): bigint;
}

interface AuditDifference {
  readonly block: number;
  /** 0x and 40 hex digits. */
  readonly account: string;
  readonly field: "balance" | "nonce" | "code" | "slot";
  /** Of field `slot`: 0x and 64 hex digits. */
  readonly slot?: string;
  /** As text. Long code is cut, with its length and the first byte that differs. */
  readonly held: string;
  readonly atNode: string;
}

export type AuditOutcome =
  | {readonly kind: "compared"; readonly values: number; readonly differences: readonly AuditDifference[]}
  /** The node has another block at this number, or none. Nothing was compared. */
  | {readonly kind: "other_block"; readonly hash: string | undefined};

/** One value of the node, and how it compares with the held one. */
interface Check {
  readonly call: NodeCall;
  /** @returns undefined if both are the same */
  readonly compare: (answer: unknown) => AuditDifference | undefined;
}

/** More than the largest code that EIP-170 or EIP-7907 allow. */
const MAX_CODE_BYTES = 1 << 20;
const SHOWN_CODE_BYTES = 32;

/**
 * @throws NodeRefusal if the node does not have the block's state, NodeFailure; what `held` throws
 */
export async function auditBlock(
  node: Node,
  held: HeldState,
  subjects: readonly AuditSubject[],
): Promise<AuditOutcome> {
  const at = `0x${held.block.toString(16)}`;
  const checks = subjects.flatMap(subject => createChecks(held, subject, at));
  const ownBlock: NodeCall = {method: "eth_getBlockByNumber", params: [at, false]};
  const before = readHash(await node.request(ownBlock.method, ownBlock.params));
  const own = toHex(held.blockHash);
  if (before !== own) return {kind: "other_block", hash: before};
  let answers: readonly unknown[] | NodeRefusal;
  try {
    answers = await node.requestAll(checks.map(({call}) => call));
  } catch (error) {
    if (!(error instanceof NodeRefusal)) throw error;
    answers = error;
  }
  const after = readHash(await node.request(ownBlock.method, ownBlock.params));
  // A node also refuses to read the state of a block that went away meanwhile.
  if (after !== own) return {kind: "other_block", hash: after};
  if (answers instanceof NodeRefusal) throw answers;
  const values = answers;
  const differences = checks.flatMap(({compare}, index) => compare(values[index]) ?? []);
  return {kind: "compared", values: checks.length, differences};
}

/** @param name - of the node */
export function describeDifference(
  {block, account, field, slot, held, atNode}: AuditDifference,
  name: string,
): string {
  const what = field === "slot" ? `slot ${slot}` : field;
  return `block ${block}: account ${account}: ${what} is ${held} here, ${atNode} at ${name}`;
}

function createChecks(held: HeldState, {address, slots}: AuditSubject, at: string): Check[] {
  const account = toHex(address);
  const {balance, nonce, code} = held.readAccount(address);
  const common = {block: held.block, account} as const;
  const number = (method: string, field: "balance" | "nonce", bits: number, own: bigint): Check => ({
    call: {method, params: [account, at]},
    compare: answer => {
      const other = parseQuantity(answer, `${method} of ${account}`, bits);
      return other === own ? undefined : {...common, field, held: String(own), atNode: String(other)};
    },
  });
  return [
    number("eth_getBalance", "balance", 256, balance),
    number("eth_getTransactionCount", "nonce", 64, nonce),
    {
      call: {method: "eth_getCode", params: [account, at]},
      compare: answer => {
        const other = parseBytes(answer, `eth_getCode of ${account}`, MAX_CODE_BYTES);
        if (Buffer.compare(other, code) === 0) return undefined;
        return {...common, field: "code", ...describeCodes(code, other)};
      },
    },
    ...slots.map(slot => createSlotCheck(held, address, slot, at)),
  ];
}

function createSlotCheck(held: HeldState, address: Uint8Array, slot: Uint8Array, at: string): Check {
  const account = toHex(address);
  const own = held.readSlot(address, slot);
  return {
    call: {method: "eth_getStorageAt", params: [account, toHex(slot), at]},
    compare: answer => {
      const other = parseQuantity(answer, `eth_getStorageAt of ${account}`, 256);
      if (other === own) return undefined;
      return {
        block: held.block,
        account,
        field: "slot",
        slot: toHex(slot),
        held: `0x${own.toString(16)}`,
        atNode: `0x${other.toString(16)}`,
      };
    },
  };
}

function describeCodes(own: Uint8Array, other: Uint8Array): {held: string; atNode: string} {
  let at = 0;
  while (at < own.length && own[at] === other[at]) at++;
  const describe = (code: Uint8Array): string => {
    if (code.length === 0) return "none";
    if (code.length <= SHOWN_CODE_BYTES) return toHex(code);
    const from = Math.min(at, code.length);
    const part = toHex(code.subarray(from, from + SHOWN_CODE_BYTES));
    return `${code.length} bytes, ${part} from byte ${from} on`;
  };
  return {held: describe(own), atNode: describe(other)};
}

/** @returns the block's hash, or undefined if the node does not have the block */
function readHash(answer: unknown): string | undefined {
  if ((answer ?? undefined) === undefined) return undefined;
  return toHex(parseFixedBytes(parseObject(answer, "the block").hash, "hash of the block", 32));
}
