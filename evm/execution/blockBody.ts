/** Compares a block's body with the roots in its header, to tell a lying node from a block whose execution fails. */
import {keccak256} from "../../storage/hash/keccak.ts";
import {toHex} from "../../storage/hex.ts";
import {RlpReader} from "../../storage/rlp/rlpReader.ts";
import {listRoot} from "../../storage/trie/listRoot.ts";
import {ExecutionError} from "./executionError.ts";

const UNCLES_HASH = 1;
const TRANSACTIONS_ROOT = 4;
const WITHDRAWALS_ROOT = 16;

interface Parts {
  readonly header: readonly Uint8Array[];
  readonly transactions: readonly Uint8Array[];
  /** The RLP of the list, with its header. */
  readonly uncles: Uint8Array;
  readonly withdrawals: readonly Uint8Array[] | undefined;
}

/** @throws ExecutionError BLOCK_INVALID that names the part and both hashes */
export function checkBlockBody(blockRlp: Uint8Array): void {
  let parts: Parts;
  try {
    parts = readParts(blockRlp);
  } catch (error) {
    throw invalid(`it is not a block: ${(error as Error).message}`);
  }
  const {header, transactions, uncles, withdrawals} = parts;
  compare("transactions", header[TRANSACTIONS_ROOT], listRoot(transactions));
  compare("uncles", header[UNCLES_HASH], keccak256(uncles));
  compare("withdrawals", header[WITHDRAWALS_ROOT], withdrawals && listRoot(withdrawals));
}

function readParts(blockRlp: Uint8Array): Parts {
  const outer = new RlpReader(blockRlp);
  const parts = outer.readList();
  outer.close();
  const header = parts.readList().readItems();
  const transactions = parts.readList().readItems();
  const at = parts.at;
  parts.readList();
  const uncles = parts.bytes.subarray(at, parts.at);
  const withdrawals = parts.isDone ? undefined : parts.readList().readItems();
  parts.close();
  return {header, transactions, uncles, withdrawals};
}

function compare(part: string, named: Uint8Array | undefined, made: Uint8Array | undefined): void {
  if (named === undefined && made === undefined) return;
  if (made === undefined) throw invalid(`its ${part} are missing`);
  if (named === undefined) throw invalid(`it has ${part}, its header has none`);
  if (Buffer.compare(named, made) !== 0)
    throw invalid(`its ${part} have the root ${toHex(made)}, its header names ${toHex(named)}`);
}

function invalid(reason: string): ExecutionError {
  return new ExecutionError("BLOCK_INVALID", reason);
}
