import {encodeQuantity} from "../../rpc/quantity.ts";
import {arrayOf, nullable, objectOf, QUANTITY, RANGE} from "../schema.ts";
import {createReady} from "./readyMethod.ts";

/** `--history finalizations` keeps single blocks, thousands a year. */
const MAX_RANGES = 64;

export const getCoverage = createReady({
  name: "chain_getCoverage",
  summary:
    "The oldest, newest finalized and newest block in the store, the ranges of blocks at which proofs can be made, the hash suite of the trees, the blocks that are unverified: no header or finalization commits to their state, and the first and the last block in which only the word of a node shows that an account was removed and made again.",
  result: {
    name: "coverage",
    schema: objectOf({
      earliest: nullable(QUANTITY),
      finalized: nullable(QUANTITY),
      latest: nullable(QUANTITY),
      suite: {type: "string"},
      ranges: arrayOf(RANGE),
      rangeCount: QUANTITY,
      unverified: nullable(RANGE),
      openResets: nullable(RANGE),
    }),
  },
  answer({head, chain}) {
    const {earliest, finalized, latest} = head;
    const {ranges, count} =
      finalized === undefined ? {ranges: [], count: 0} : chain.pruned.unprunedRanges(finalized, MAX_RANGES);
    return JSON.stringify({
      earliest: encodeQuantity(earliest),
      finalized: encodeQuantity(finalized),
      latest: encodeQuantity(latest),
      suite: chain.suite,
      ranges: ranges.map(range => range.map(encodeQuantity)),
      rangeCount: encodeQuantity(count),
      unverified: chain.unverified(head)?.map(encodeQuantity) ?? null,
      openResets: chain.openResets()?.map(encodeQuantity) ?? null,
    });
  },
});
