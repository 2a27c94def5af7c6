/**
 * eth_getBlockByNumber and eth_getBlockByHash: the header, for clients that ask for it beside a proof of eth_getProof.
 * The store has no transactions, uncles and withdrawals: a list is in the answer only if the header shows that it is
 * empty.
 */
import {toHex} from "../../../storage/hex.ts";
import {FIRST_ITEMS, HEADER_ITEMS} from "../../../workers/chain/chainView.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {AheadError, createValueError, RpcCode, RpcError} from "../../rpc/rpcError.ts";
import {createReadError, type RequestView} from "../method.ts";
import {arrayOf, BLOCK_PARAM, HASH, headerFields, nullable, objectOf} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {createReady} from "./readyMethod.ts";

/** 30 us of the main thread, with the text. */
const HEADER_COST = 20;

/** The root of an empty trie. */
const NO_ITEMS = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";
/** keccak256 of the RLP of an empty list. */
const NO_UNCLES = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";
/** What the header of a block without these has of them. */
const LISTS = [
  ["transactions", "transactionsRoot", NO_ITEMS],
  ["uncles", "sha3Uncles", NO_UNCLES],
  ["withdrawals", "withdrawalsRoot", NO_ITEMS],
] as const;

const EMPTY = {...arrayOf({}), maxItems: 0};
const BLOCK = objectOf(
  {hash: HASH, ...headerFields(HEADER_ITEMS.slice(0, FIRST_ITEMS))},
  {...headerFields(HEADER_ITEMS.slice(FIRST_ITEMS)), transactions: EMPTY, uncles: EMPTY, withdrawals: EMPTY},
);

export const getBlockByNumber = createGetBlock("eth_getBlockByNumber");
export const getBlockByHash = createGetBlock("eth_getBlockByHash");

function createGetBlock(name: string) {
  return createReady({
    name,
    summary:
      "The header of a block in the store, or null. Lists such as transactions are in the answer only if they are empty.",
    params: [
      {name: "block", required: true, schema: BLOCK_PARAM},
      {name: "full", required: true, schema: {type: "boolean"}},
    ],
    result: {name: "block", schema: nullable(BLOCK)},
    errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED, RpcCode.NOT_AVAILABLE],
    cost: HEADER_COST,
    answer(view, [selector, full]) {
      if (typeof full !== "boolean") throw createValueError("params[1] (full)", full, "true or false");
      const number = findBlock(selector, view);
      if (number === undefined) return "null";
      const block = readHeader(name, number, view);
      if (full && block.transactions === undefined)
        throw createValueError("params[1] (full)", full, "false, because only the block's header is stored");
      return JSON.stringify(block);
    },
  });
}

/** @returns undefined for a block that is not in the store. @throws RpcError; AheadError with --balanced */
function findBlock(selector: unknown, view: RequestView): number | undefined {
  try {
    return resolveSelector(selector, "params[0] (block)", "header", view);
  } catch (error) {
    const isUnknown = error instanceof RpcError && error.code === RpcCode.BLOCK_UNKNOWN;
    if (isUnknown && !(view.isBalanced && error instanceof AheadError)) return undefined;
    throw error;
  }
}

/** @throws RpcError NOT_AVAILABLE for a header that is not whole, or not of Ethereum's form */
function readHeader(method: string, number: number, {chain, head}: RequestView): Record<string, unknown> {
  const header = chain.readHeaderValues(number);
  if ("failure" in header) throw createReadError(header, number, head);
  if (header.values === undefined) {
    const block = encodeQuantity(number);
    const reason = `the source of block ${block} gave no whole header of Ethereum's form. Use chain_getHeader`;
    throw new RpcError(RpcCode.NOT_AVAILABLE, `${method} is not available: ${reason}`);
  }
  const block: Record<string, unknown> = {hash: toHex(header.hash)};
  for (const [name, value] of header.values)
    block[name] = typeof value === "bigint" ? encodeQuantity(value) : toHex(value);
  for (const [list, item, empty] of LISTS) if (block[item] === empty) block[list] = [];
  return block;
}
