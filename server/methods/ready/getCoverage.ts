import {encodeQuantity} from "../../rpc/quantity.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {arrayOf, nullable, objectOf, QUANTITY} from "../schema.ts";

const NAME = "chain_getCoverage";
/** `--history finalizations` keeps single blocks, thousands a year. */
const MAX_RANGES = 64;

export const getCoverage: ReadyMethod = {
  name: NAME,
  summary:
    "The oldest, newest finalized and newest block that this node holds, the ranges of blocks that it can prove, and the hash suite of the trees.",
  params: new ParamList(NAME, []),
  result: {
    name: "coverage",
    schema: objectOf({
      earliest: nullable(QUANTITY),
      finalized: nullable(QUANTITY),
      latest: nullable(QUANTITY),
      suite: {type: "string"},
      ranges: arrayOf({type: "array", items: QUANTITY, minItems: 2, maxItems: 2}),
      rangeCount: QUANTITY,
    }),
  },
  errors: [],
  lane: undefined,
  cost() {
    return 0;
  },
  answer(params, {head, chain}) {
    this.params.read(params);
    const {earliest, finalized, latest} = head;
    const {ranges, count} =
      finalized === undefined ? {ranges: [], count: 0} : chain.pruned.held(finalized, MAX_RANGES);
    return JSON.stringify({
      earliest: encodeQuantity(earliest),
      finalized: encodeQuantity(finalized),
      latest: encodeQuantity(latest),
      suite: chain.suite,
      ranges: ranges.map(range => range.map(encodeQuantity)),
      rangeCount: encodeQuantity(count),
    });
  },
};
