/**
 * What a block's header says about the next one. It is kept with the root of the block's state trie (storage/block/trieRoot.ts).
 *
 *   RLP  [timestamp, gasLimit, gasUsed, (baseFeePerGas, (blobGasUsed, excessBlobGas))]
 */
import {RLP} from "@ethereumjs/rlp";
import type {BlockHeader} from "../../storage/block/blockDifference.ts";
import {StoreError} from "../../storage/errors.ts";

const NAMES = ["timestamp", "gasLimit", "gasUsed", "baseFeePerGas", "blobGasUsed", "excessBlobGas"] as const;
/** Headers of all forks have these. */
const REQUIRED = 3;

type Figure = (typeof NAMES)[number];
export type ParentFigures = Pick<BlockHeader, Figure> &
  Required<Pick<BlockHeader, "timestamp" | "gasLimit" | "gasUsed">>;

/** @returns undefined if the source gave no whole header */
export function encodeFigures(header: BlockHeader): Uint8Array | undefined {
  const figures = NAMES.map(name => header[name]);
  const end = figures.indexOf(undefined);
  const known = end < 0 ? figures : figures.slice(0, end);
  return known.length < REQUIRED ? undefined : RLP.encode(known as bigint[]);
}

/** @throws StoreError RECORD_DAMAGED */
export function decodeFigures(bytes: Uint8Array): ParentFigures {
  try {
    const values = RLP.decode(bytes) as Uint8Array[];
    if (values.length < REQUIRED || values.length > NAMES.length)
      throw new Error(`expected ${REQUIRED} to ${NAMES.length} figures, got ${values.length}`);
    const entries = values.map((value, at) => [
      NAMES[at],
      BigInt(`0x0${Buffer.from(value).toString("hex")}`),
    ]);
    return Object.fromEntries(entries);
  } catch (error) {
    throw new StoreError("RECORD_DAMAGED", "the figures with the root of a trie are malformed", {
      cause: error,
    });
  }
}
