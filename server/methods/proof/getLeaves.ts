/**
 * chain_getLeaves: the leaves of a range of one tree, and a proof that they are complete (docs/proofs.md, section 15),
 * in hex, or as bytes for a request of one call with `Accept: application/octet-stream`.
 */
import {MAX_LEAVES, packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, BYTES, QUANTITY_PARAM, treeParam} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {getProof} from "./getProof.ts";
import {parseCount, parseNumber, rangeTextBytes, readCount, readTree} from "./treeParams.ts";

const ACCOUNTS = "accounts";
const LEAF_POSITIONS = 2 ** 40;
/** A thread writes so many leaves in the time of one proof. */
const LEAVES_PER_COST = 8;
/** The account's proof, and the nodes beside the range. */
const CALL_COST = 2;

export const getLeaves: LaneMethod<PackedCalls> = {
  ...getProof,
  name: "chain_getLeaves",
  summary:
    "The leaves of a range of one tree at a finalized block, with a proof that they are all of the range.",
  params: new ParamList([
    {name: "tree", required: true, schema: treeParam([ACCOUNTS])},
    {name: "fromIndex", required: true, schema: QUANTITY_PARAM},
    {name: "count", required: true, schema: QUANTITY_PARAM},
    {name: "block", required: true, schema: BLOCK_PARAM},
  ]),
  result: {name: "leaves", schema: BYTES},
  cost: leavesCost,
  maxTextBytes: rangeTextBytes,
  prepare(params, view, calls) {
    const [tree, fromIndex, count, selector] = this.params.read(this, params);
    const form = view.takesBytes ? ProofForm.LEAVES_BYTES : ProofForm.LEAVES_HEX;
    const named = readTree(tree, [ACCOUNTS]);
    const call = {
      address: named === ACCOUNTS ? undefined : named,
      from: readFrom(fromIndex),
      count: readCount(count, 2, MAX_LEAVES),
      block: resolveSelector(selector, "params[3] (block)", "provable", view),
    };
    calls.put(packLeaves(call, form), leavesCost(params));
    calls.isBytes = view.takesBytes;
  },
};

/** 0 if the number of leaves will be refused. At least 3, which is room for a packed call: its fields take two keys. */
function leavesCost(params: Call["params"]): number {
  const count = Array.isArray(params) ? parseCount(params[2], MAX_LEAVES) : undefined;
  return count === undefined ? 0 : CALL_COST + Math.ceil(count / LEAVES_PER_COST);
}

function readFrom(fromIndex: unknown): number {
  const from = parseNumber(fromIndex);
  if (from !== undefined && from < LEAF_POSITIONS) return from;
  throw createValueError("params[1] (fromIndex)", fromIndex, "a 0x leaf index below 2^40");
}
