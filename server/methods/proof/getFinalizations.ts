import {FINALIZATION_TEXT_BYTES, packFinalizations} from "../../../workers/messages/finalizationsCall.ts";
import {LaneId} from "../../request/requestCalls.ts";
import {parseBlockNumber} from "../../rpc/quantity.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {arrayOf, BLOCK_NUMBER_PARAM, FINALIZATION, nullable, QUANTITY_PARAM} from "../schema.ts";
import {parseCount, readCount} from "./treeParams.ts";

const DEFAULT_COUNT = "0x64";
const MAX_COUNT = 1000;
/** A packed block has 48 bits. */
const MAX_BLOCK = 2 ** 48 - 1;
/** A proof thread reads one in some 15 us. At this cost, one request may ask for a thousand. */
const FINALIZATION_COST = 20;

export const getFinalizations: LaneMethod<PackedCalls> = {
  name: "chain_getFinalizations",
  summary:
    "Finalizations on layer 1 in order, from the one that covers a block: the blocks whose state roots the rollup contract has recorded.",
  params: new ParamList([
    {name: "fromBlock", required: false, schema: nullable(BLOCK_NUMBER_PARAM)},
    {name: "count", required: false, schema: nullable(QUANTITY_PARAM)},
  ]),
  result: {name: "finalizations", schema: arrayOf(FINALIZATION)},
  errors: [],
  lane: LaneId.PROOF,
  cost(params) {
    const count = Array.isArray(params) ? parseCount(params[1] ?? DEFAULT_COUNT, MAX_COUNT) : undefined;
    return FINALIZATION_COST * (count ?? 0);
  },
  maxTextBytes(cost) {
    return (cost / FINALIZATION_COST) * FINALIZATION_TEXT_BYTES;
  },
  prepare(params, view, calls) {
    const [fromBlock, asked] = this.params.read(this, params);
    const from = readFrom(fromBlock);
    const count = readCount(asked ?? DEFAULT_COUNT, 1, MAX_COUNT);
    const finalized = view.head.finalized ?? -1;
    calls.put(packFinalizations({from, finalized, count}), FINALIZATION_COST * count);
  },
};

function readFrom(from: unknown): number {
  if ((from ?? undefined) === undefined) return 0;
  const block = typeof from === "string" ? parseBlockNumber(from) : undefined;
  if (block !== undefined) return Math.min(block, MAX_BLOCK);
  throw createValueError("params[0] (fromBlock)", from, "a 0x block number");
}
