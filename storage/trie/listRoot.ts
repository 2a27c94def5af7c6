/** The root of the trie over a block's transactions, receipts or withdrawals: position as RLP -> bytes. */
import {keccak256} from "../hash/keccak.ts";
import {EMPTY_ROOT} from "./trie.ts";
import {TrieModule} from "./trieModule.ts";

let module: TrieModule | undefined;

export function listRoot(values: readonly Uint8Array[]): Uint8Array {
  const count = values.length;
  if (count === 0) return EMPTY_ROOT;
  // Lists are not stored in pages.
  module ??= new TrieModule({});
  const list = module;
  const {wasm} = list;
  if (count > wasm.maxList.value)
    throw new RangeError(`expected a list of at most ${wasm.maxList.value} values, got ${count}`);
  wasm.beginList(count);
  const {memory} = list;
  const messageAt = wasm.messageAt.value;
  for (let rank = 0; rank < count; rank++) {
    const value = values[wasm.positionOf(rank, count)] as Uint8Array;
    const valueAt = wasm.beginLeaf(rank, count, value.length, value[0] ?? 0);
    const bytes = valueAt - messageAt + value.length;
    if (bytes <= wasm.messageBytes.value) {
      memory.set(value, valueAt);
      wasm.endLeaf(rank, bytes);
    } else {
      memory.set(keccak256(Buffer.concat([memory.subarray(messageAt, valueAt), value])), wasm.resultAt.value);
      wasm.endHashedLeaf(rank);
    }
  }
  wasm.endList(count);
  return list.result;
}
