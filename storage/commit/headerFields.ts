/**
 * Checks that the fields of a block's header have the lengths that its record needs.
 */
import type {BlockHeader} from "../block/blockDifference.ts";
import {MAX_EXTRA_DATA_BYTES} from "../block/blockRecord.ts";
import {StoreError} from "../errors.ts";
import {WORD_BYTES} from "../hash/suite.ts";

/** @throws StoreError BLOCK_INVALID */
export function checkFields({
  number,
  hash,
  parentHash,
  miner,
  mixHash,
  extraData,
  stateRoot,
}: BlockHeader): void {
  for (const [field, bytes, length] of [
    ["hash", hash, WORD_BYTES],
    ["parentHash", parentHash, WORD_BYTES],
    ["miner", miner, 20],
    ["mixHash", mixHash, WORD_BYTES],
    ["stateRoot", stateRoot, WORD_BYTES],
  ] as const)
    if (bytes !== undefined && bytes.length !== length)
      throw new StoreError(
        "BLOCK_INVALID",
        `block ${number}: ${field}: expected ${length} bytes, got ${bytes.length}`,
      );
  if (extraData !== undefined && extraData.length > MAX_EXTRA_DATA_BYTES)
    throw new StoreError(
      "BLOCK_INVALID",
      `block ${number}: extraData of ${extraData.length} bytes, at most ${MAX_EXTRA_DATA_BYTES}`,
    );
}
