/**
 * The suite that uses SHA-256 for everything. safe() leaves words unchanged (docs/proofs.md, section 1).
 *
 *   leaf opening   prev 32 | next 32 | hKey 32 | hVal 32
 *   root node      nextFreeNode 32 | subRoot 32
 */
import {digest} from "@chainsafe/as-sha256";
import {sha256, sha256Into} from "./sha256.ts";
import {type HashSuite, WORD_BYTES} from "./suite.ts";

const LEAF_OPENING_BYTES = 128;
const ROOT_NODE_BYTES = 64;

const addressWord = new Uint8Array(32);

export const sha256Suite: HashSuite = {
  name: "sha256",
  leafOpeningBytes: LEAF_OPENING_BYTES,
  rootNodeBytes: ROOT_NODE_BYTES,
  tailHKey: new Uint8Array(32).fill(0xff),

  hashPairsInto(pairs, count, out) {
    sha256Into(pairs, count, 2 * WORD_BYTES, out);
  },
  encodeLeafLinksInto,
  encodeLeafOpeningInto(out, offset, prev, next, hKey, hVal) {
    encodeLeafLinksInto(out, offset, prev, next);
    out.set(hKey, offset + 64);
    out.set(hVal, offset + 96);
  },
  encodeRootNodeInto(out, offset, nextFreeNode, subRoot) {
    writeIndexWord(out, offset, nextFreeNode);
    out.set(subRoot, offset + 32);
  },
  hashNode: sha256,
  hashLeavesInto(openings, count, out) {
    sha256Into(openings, count, LEAF_OPENING_BYTES, out);
  },
  hashAddress(address) {
    addressWord.set(address, 12);
    return digest(addressWord);
  },
  hashSlot: digest,
  hashSlotValue: digest,
  hashAccountValue: sha256,
  hashCode: digest,
};

function encodeLeafLinksInto(out: Uint8Array, offset: number, prev: number, next: number): void {
  writeIndexWord(out, offset, prev);
  writeIndexWord(out, offset + 32, next);
}

/** word(index): 32 bytes, big-endian; an index has at most 48 bits. */
function writeIndexWord(out: Uint8Array, offset: number, index: number): void {
  out.fill(0, offset, offset + 26);
  const low = index % 0x1000000;
  const high = (index - low) / 0x1000000;
  out[offset + 26] = high >>> 16;
  out[offset + 27] = high >>> 8;
  out[offset + 28] = high;
  out[offset + 29] = low >>> 16;
  out[offset + 30] = low >>> 8;
  out[offset + 31] = low;
}
