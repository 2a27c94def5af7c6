/**
 * chain_getLeaves: the leaves of a range of one tree, and a proof that they are all of them (docs/proofs.md, section 15). They come in
 * hex, or as bytes if a client asks for bytes (`Accept: application/octet-stream`) in a request of one call.
 */
import {MAX_LEAVES, packLeaves} from "../../../workers/job/leavesCall.ts";
import {ProofForm} from "../../../workers/job/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {encodeQuantity, parseQuantity} from "../../rpc/quantity.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, BYTES, QUANTITY_PARAM, TREE_PARAM} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {ADDRESS_BYTES, ADDRESS_EXPECTED, decodeAddressInto} from "../words.ts";
import {getProof} from "./getProof.ts";
import type {ProofCalls} from "./proofCalls.ts";

const NAME = "chain_getLeaves";
const ACCOUNTS = "accounts";
const LEAF_POSITIONS = 2 ** 40;
/** A thread writes so many leaves in the time of one proof. */
const LEAVES_PER_COST = 8;
/** The account's proof, and the nodes beside the range. */
const CALL_COST = 2;

export const getLeaves: LaneMethod<ProofCalls> = {
  ...getProof,
  name: NAME,
  summary:
    "The leaves of a range of one tree at a finalized block, with a proof that they are all of the range.",
  params: new ParamList(NAME, [
    {name: "tree", required: true, schema: TREE_PARAM},
    {name: "fromIndex", required: true, schema: QUANTITY_PARAM},
    {name: "count", required: true, schema: QUANTITY_PARAM},
    {name: "block", required: true, schema: BLOCK_PARAM},
  ]),
  result: {name: "leaves", schema: BYTES},
  cost: leavesCost,
  prepare(params, view, calls) {
    const [tree, fromIndex, count, selector] = this.params.read(params);
    const form = view.takesBytes ? ProofForm.LEAVES_BYTES : ProofForm.LEAVES_HEX;
    const call = {
      address: readTree(tree),
      from: readFrom(fromIndex),
      count: readCount(count),
      block: resolveSelector(selector, "params[3] (block)", "provable", view),
    };
    calls.add(packLeaves(calls.packed, calls.end, call, form), leavesCost(params));
    calls.isBytes = view.takesBytes;
  },
};

/** 0 if the number of leaves will be refused. At least 3, which is room for a packed call. */
function leavesCost(params: Call["params"]): number {
  const count = Array.isArray(params) ? parseNumber(params[2]) : undefined;
  if (count === undefined || count === 0 || count > MAX_LEAVES) return 0;
  return CALL_COST + Math.ceil(count / LEAVES_PER_COST);
}

/** @returns the account's address; undefined: the tree of all accounts. @throws RpcError INVALID_PARAMS */
function readTree(tree: unknown): Uint8Array | undefined {
  if (tree === ACCOUNTS) return undefined;
  const address = new Uint8Array(ADDRESS_BYTES);
  if (decodeAddressInto(tree, address, 0)) return address;
  throw createValueError("params[0] (tree)", tree, `"${ACCOUNTS}", or an address of ${ADDRESS_EXPECTED}`);
}

/** @throws RpcError INVALID_PARAMS */
function readFrom(fromIndex: unknown): number {
  const from = parseNumber(fromIndex);
  if (from !== undefined && from < LEAF_POSITIONS) return from;
  throw createValueError("params[1] (fromIndex)", fromIndex, "a 0x leaf index below 2^40");
}

/** @throws RpcError INVALID_PARAMS */
function readCount(value: unknown): number {
  const count = parseNumber(value);
  if (count !== undefined && count > 0 && count <= MAX_LEAVES) return count;
  throw createValueError(
    "params[2] (count)",
    value,
    `a 0x quantity from 0x1 to ${encodeQuantity(MAX_LEAVES)}`,
  );
}

function parseNumber(value: unknown): number | undefined {
  return typeof value === "string" ? parseQuantity(value) : undefined;
}
