import {encodeQuantity} from "../../rpc/quantity.ts";
import type {ReadyMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {nullable, objectOf, QUANTITY} from "../schema.ts";

const NAME = "chain_getCoverage";

export const getCoverage: ReadyMethod = {
  name: NAME,
  summary:
    "The oldest, newest finalized and newest block that this node holds, and the hash suite of the trees.",
  params: new ParamList(NAME, []),
  result: {
    name: "coverage",
    schema: objectOf({
      earliest: nullable(QUANTITY),
      finalized: nullable(QUANTITY),
      latest: nullable(QUANTITY),
      suite: {type: "string"},
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
    return JSON.stringify({
      earliest: encodeQuantity(earliest),
      finalized: encodeQuantity(finalized),
      latest: encodeQuantity(latest),
      suite: chain.suite,
    });
  },
};
