import {FINALIZATION_TEXT_BYTES, packFinalizations} from "../../../workers/messages/finalizationsCall.ts";
import {LaneId} from "../../rpc/requestCalls.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {arrayOf, FINALIZATION, nullable, QUANTITY_PARAM} from "../schema.ts";
import type {ProofCalls} from "./proofCalls.ts";
import {parseNumber} from "./treeParams.ts";

const NAME = "chain_getFinalizations";
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1000;
/** A packed block has 48 bits. */
const MAX_BLOCK = 2 ** 48 - 1;
/** A proof thread reads one in some 15 us. At this cost, one request may ask for a thousand. */
const FINALIZATION_COST = 20;

export const getFinalizations: LaneMethod<ProofCalls> = {
  name: NAME,
  summary:
    "Finalizations on layer 1 in order, from the one that covers a block: the blocks whose state roots the rollup contract holds.",
  params: new ParamList(NAME, [
    {name: "fromBlock", required: false, schema: nullable(QUANTITY_PARAM)},
    {name: "count", required: false, schema: nullable(QUANTITY_PARAM)},
  ]),
  result: {name: "finalizations", schema: arrayOf(FINALIZATION)},
  errors: [],
  lane: LaneId.PROOF,
  cost(params) {
    const count = Array.isArray(params) ? parseCount(params[1]) : undefined;
    return count === undefined || count > MAX_COUNT ? 0 : FINALIZATION_COST * count;
  },
  maxTextBytes(cost) {
    return (cost / FINALIZATION_COST) * FINALIZATION_TEXT_BYTES;
  },
  prepare(params, view, calls) {
    const [from, count] = readRange(this.params.read(params));
    const finalized = view.head.finalized ?? -1;
    const end = packFinalizations(calls.packed, calls.end, {from, finalized, count});
    calls.add(end, FINALIZATION_COST * count);
  },
};

/** @throws RpcError INVALID_PARAMS */
function readRange([from, count]: readonly unknown[]): [from: number, count: number] {
  const block = (from ?? undefined) === undefined ? 0 : parseNumber(from);
  if (block === undefined) throw createValueError("params[0] (fromBlock)", from, "a 0x block number");
  const limit = parseCount(count);
  if (limit !== undefined && limit <= MAX_COUNT) return [Math.min(block, MAX_BLOCK), limit];
  throw createValueError("params[1] (count)", count, `a 0x quantity from 0x1 to 0x${MAX_COUNT.toString(16)}`);
}

function parseCount(count: unknown): number | undefined {
  if ((count ?? undefined) === undefined) return DEFAULT_COUNT;
  const parsed = parseNumber(count);
  return parsed === 0 ? undefined : parsed;
}
