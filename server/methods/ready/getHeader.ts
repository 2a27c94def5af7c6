import {toHex} from "../../../storage/hex.ts";
import {HEADER_ITEMS} from "../../../workers/chain/chainView.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {RpcCode} from "../../rpc/rpcError.ts";
import {createReadError} from "../method.ts";
import {
  arrayOf,
  BLOCK,
  BLOCK_PARAM,
  BYTES,
  HASH,
  headerFields,
  nullable,
  objectOf,
  QUANTITY,
} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

/** Reading 256 hashes takes the main thread 1 ms. At this cost, one request may ask for ten. */
const HEADER_COST = 2000;

const KEPT_ITEMS = HEADER_ITEMS.filter(({isRest, name}) => !isRest && name !== "number");
const HEADER = objectOf({}, headerFields(KEPT_ITEMS));

export const getHeader = createReady({
  name: "chain_getHeader",
  summary:
    "What a store needs to begin with a block besides its state: the known fields of its header, the header as RLP, the hashes of up to 256 blocks before it, the chain's id and genesis configuration.",
  params: [{name: "block", required: true, schema: BLOCK_PARAM}],
  result: {
    name: "header",
    schema: objectOf({
      block: BLOCK,
      header: HEADER,
      headerRlp: nullable(BYTES),
      ancestors: arrayOf(HASH),
      chainId: nullable(QUANTITY),
      config: nullable({type: "object"}),
    }),
  },
  errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
  cost: HEADER_COST,
  answer({chain, head}, [selector]) {
    const number = resolveSelector(selector, "params[0] (block)", "stored", {chain, head});
    const context = chain.readContext(number);
    if ("failure" in context) throw createReadError(context, number, head);
    const {block, header, headerRlp, ancestors, config} = context;
    const fields = Object.entries(header).map(([name, value]) => [
      name, // a field that is not known is left out
      typeof value === "bigint" ? encodeQuantity(value) : value && toHex(value),
    ]);
    return JSON.stringify({
      block: {
        number: encodeQuantity(number),
        hash: toHex(block.hash),
        stateRoot: toHex(block.stateRoot),
        finalized: number <= (head.finalized ?? -1),
      },
      header: Object.fromEntries(fields),
      headerRlp: headerRlp === undefined ? null : toHex(headerRlp),
      ancestors: ancestors.map(toHex),
      chainId: chain.chainId === undefined ? null : encodeQuantity(chain.chainId),
      config: config === undefined ? null : (JSON.parse(config) as unknown),
    });
  },
});
