/**
 * Encodes receipts, and computes the bloom filter of logs.
 *
 *   receipt = type (omitted if 0) | [status: 1 or empty, cumulative gas used, bloom, [[address, topics, data], ...]]
 *   bloom   = 2048 bits; each address and topic sets three, selected by the first six bytes of its hash
 */
import {keccak256} from "../../../storage/hash/keccak.ts";
import {encodeList, encodeNumber, type RlpItem} from "../../../storage/rlp/rlpWriter.ts";
import type {EvmLog} from "../../interpreter/message.ts";

const BLOOM_BYTES = 256;
const BITS_PER_ENTRY = 3;
const POSITION_MASK = 0x7ff;
const SUCCESS = Uint8Array.of(1);
const FAILURE = new Uint8Array(0);

export function encodeReceipt(
  type: number,
  hasSucceeded: boolean,
  gasUsedSoFar: bigint,
  bloom: Uint8Array,
  logs: readonly EvmLog[],
): Uint8Array {
  const items: RlpItem[] = logs.map(({address, topics, data}) => [address, [...topics], data]);
  const list = encodeList([hasSucceeded ? SUCCESS : FAILURE, encodeNumber(gasUsedSoFar), bloom, items]);
  return type === 0 ? list : Buffer.concat([Uint8Array.of(type), list]);
}

/** @returns 256 bytes */
export function bloomOf(logs: readonly EvmLog[]): Uint8Array {
  const bloom = new Uint8Array(BLOOM_BYTES);
  for (const {address, topics} of logs) {
    addToBloom(bloom, address);
    for (const topic of topics) addToBloom(bloom, topic);
  }
  return bloom;
}

export function joinBloom(into: Uint8Array, bloom: Uint8Array): void {
  for (let at = 0; at < BLOOM_BYTES; at++) into[at] = (into[at] as number) | (bloom[at] as number);
}

function addToBloom(bloom: Uint8Array, entry: Uint8Array): void {
  const hash = keccak256(entry);
  for (let i = 0; i < BITS_PER_ENTRY; i++) {
    const position = (((hash[2 * i] as number) << 8) | (hash[2 * i + 1] as number)) & POSITION_MASK;
    const at = BLOOM_BYTES - 1 - (position >> 3);
    bloom[at] = (bloom[at] as number) | (1 << (position & 7));
  }
}
