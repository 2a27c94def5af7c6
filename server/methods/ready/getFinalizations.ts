import type {Finalization} from "../../../workers/chain/chainView.ts";
import {encodeQuantity, parseQuantity} from "../../rpc/quantity.ts";
import {RpcCode, RpcError, shorten} from "../../rpc/rpcError.ts";
import {type ReadyMethod, RecordFailure, type RequestView} from "../method.ts";
import {ParamList} from "../params.ts";
import {arrayOf, FINALIZATION, nullable, QUANTITY_PARAM} from "../schema.ts";
import {describeLayer1} from "./layer1.ts";

const NAME = "chain_getFinalizations";
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1000;
/** Cost of one finalization, which the main thread reads in some 10 us. At this cost, one request may ask for a thousand. */
const FINALIZATION_COST = 20;

export const getFinalizations: ReadyMethod = {
  name: NAME,
  summary:
    "Finalizations on layer 1 in order, from the one that covers a block: the blocks whose state roots the rollup contract holds.",
  params: new ParamList(NAME, [
    {name: "fromBlock", required: false, schema: nullable(QUANTITY_PARAM)},
    {name: "count", required: false, schema: nullable(QUANTITY_PARAM)},
  ]),
  result: {name: "finalizations", schema: arrayOf(FINALIZATION)},
  errors: [],
  lane: undefined,
  cost(params) {
    const count = Array.isArray(params) ? parseCount(params[1]) : undefined;
    return count === undefined || count > MAX_COUNT ? 0 : FINALIZATION_COST * count;
  },
  answer(params, view) {
    const [from, count] = readRange(this.params.read(params));
    const finalized = view.head.finalized ?? -1;
    // What was finalized after the request's head was read does not exist for this request.
    const list = view.chain.listFinalizations(from, count).filter(({endBlock}) => endBlock <= finalized);
    return JSON.stringify(list.map(finalization => describe(finalization, view)));
  },
};

/** @throws RpcError INVALID_PARAMS */
function readRange([from, count]: readonly unknown[]): [from: number, count: number] {
  const block = (from ?? undefined) === undefined ? 0 : parseNumber(from);
  if (block === undefined)
    throw refuse(`params[0] (fromBlock) is ${shorten(from)}: expected a 0x block number`);
  const limit = parseCount(count);
  if (limit !== undefined && limit <= MAX_COUNT) return [block, limit];
  throw refuse(
    `params[1] (count) is ${shorten(count)}: expected a 0x quantity from 0x1 to 0x${MAX_COUNT.toString(16)}`,
  );
}

function parseCount(count: unknown): number | undefined {
  if ((count ?? undefined) === undefined) return DEFAULT_COUNT;
  const parsed = parseNumber(count);
  return parsed === 0 ? undefined : parsed;
}

function parseNumber(value: unknown): number | undefined {
  return typeof value === "string" ? parseQuantity(value) : undefined;
}

function refuse(message: string): RpcError {
  return new RpcError(RpcCode.INVALID_PARAMS, message);
}

/** @throws RecordFailure */
function describe(finalization: Finalization, {chain}: RequestView): object {
  const {startBlock, endBlock} = finalization;
  const block = chain.readHeader(endBlock);
  if ("failure" in block) throw new RecordFailure(block);
  return {
    startBlock: encodeQuantity(startBlock),
    endBlock: encodeQuantity(endBlock),
    stateRoot: `0x${Buffer.from(block.stateRoot).toString("hex")}`,
    l1: describeLayer1(finalization),
  };
}
