/**
 * Compares what a block brings besides its header with the header, without executing anything. So a node that leaves out,
 * changes or reorders transactions is told from a block that does not execute.
 */
import {type NestedUint8Array, RLP} from "@ethereumjs/rlp";
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {listRoot} from "../trie/listRoot.ts";
import {ExecutionError} from "./errors.ts";

type Item = Uint8Array | NestedUint8Array;

/** Positions in the header. */
const UNCLES_HASH = 1;
const TRANSACTIONS_ROOT = 4;
const WITHDRAWALS_ROOT = 16;

/** @throws ExecutionError BLOCK_INVALID naming the part and both hashes */
export function checkBlockBody(blockRlp: Uint8Array): void {
  const [header, transactions, uncles, withdrawals] = decodeParts(blockRlp);
  compare("transactions", header[TRANSACTIONS_ROOT], rootOf(transactions));
  compare("uncles", header[UNCLES_HASH], keccak256(RLP.encode(uncles)));
  compare(
    "withdrawals",
    header[WITHDRAWALS_ROOT],
    withdrawals === undefined ? undefined : rootOf(withdrawals),
  );
}

function decodeParts(
  blockRlp: Uint8Array,
): [header: Item[], transactions: Item[], uncles: Item[], withdrawals?: Item[]] {
  let parts: Item;
  try {
    parts = RLP.decode(blockRlp);
  } catch (error) {
    throw invalid(`it is not RLP: ${(error as Error).message}`);
  }
  if (!Array.isArray(parts) || parts.length < 3 || parts.length > 4 || !parts.every(Array.isArray))
    throw invalid("it is not a list of header, transactions, uncles and perhaps withdrawals");
  return parts as unknown as ReturnType<typeof decodeParts>;
}

/** A typed transaction is its bytes already. */
function rootOf(items: readonly Item[]): Uint8Array {
  return listRoot(items.map(item => (item instanceof Uint8Array ? item : RLP.encode(item))));
}

function compare(part: string, named: Item | undefined, made: Uint8Array | undefined): void {
  if (named === undefined && made === undefined) return;
  if (made === undefined) throw invalid(`its ${part} are missing`);
  if (!(named instanceof Uint8Array)) throw invalid(`it has ${part}, its header has none`);
  if (Buffer.compare(named, made) !== 0)
    throw invalid(`its ${part} have the root ${toHex(made)}, its header names ${toHex(named)}`);
}

function invalid(reason: string): ExecutionError {
  return new ExecutionError("BLOCK_INVALID", reason);
}
