/**
 * chain_getChanges: the leaves that differ between two blocks, and a proof that nothing else differs (docs/proofs.md,
 * section 16), in hex, or as bytes for a request of one call with `Accept: application/octet-stream`.
 */
import {
  type ChangeCursor,
  ChangeScope,
  MAX_CHANGES,
  packChanges,
} from "../../../workers/messages/changesCall.ts";
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import type {Call} from "../../rpc/envelope.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {BLOCK_PARAM, BYTES, CURSOR_PARAM, QUANTITY_PARAM, treeParam} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {getProof} from "./getProof.ts";
import {parseCount, rangeTextBytes, readCount, readTree} from "./treeParams.ts";

const ACCOUNTS = "accounts";
const ALL = "all";
const TREES = [ACCOUNTS, ALL] as const;
const SCOPES = {[ACCOUNTS]: ChangeScope.ACCOUNTS, [ALL]: ChangeScope.ALL} as const;
const CURSOR = /^0[xX]([0-9a-fA-F]{1,20})$/;
const INDEX_DIGITS = 10;
const LAST_INDEX = 2 ** 40 - 1;
/** A thread finds so many leaves in the time of one proof, if they are far from each other. */
const LEAVES_PER_COST = 2;
/** Proofs of an account at both blocks. */
const CALL_COST = 4;

export const getChanges: LaneMethod<PackedCalls> = {
  ...getProof,
  name: "chain_getChanges",
  summary:
    "The leaves that differ between two finalized blocks, in one tree or in all, with a proof that nothing else differs.",
  params: new ParamList([
    {name: "tree", required: true, schema: treeParam(TREES)},
    {name: "fromBlock", required: true, schema: BLOCK_PARAM},
    {name: "toBlock", required: true, schema: BLOCK_PARAM},
    {name: "cursor", required: true, schema: CURSOR_PARAM},
    {name: "count", required: true, schema: QUANTITY_PARAM},
  ]),
  result: {name: "changes", schema: BYTES},
  cost: changesCost,
  maxTextBytes: rangeTextBytes,
  prepare(params, view, calls) {
    const [tree, fromBlock, toBlock, cursor, count] = this.params.read(this, params);
    const form = view.takesBytes ? ProofForm.CHANGES_BYTES : ProofForm.CHANGES_HEX;
    const named = readTree(tree, TREES);
    const call = {
      ...(typeof named === "string"
        ? {scope: SCOPES[named], address: undefined}
        : {scope: ChangeScope.STORAGE, address: named}),
      cursor: readCursor(cursor, named === ACCOUNTS),
      count: readCount(count, 4, MAX_CHANGES),
      fromBlock: resolveSelector(fromBlock, "params[1] (fromBlock)", "provable", view),
      toBlock: resolveSelector(toBlock, "params[2] (toBlock)", "provable", view),
    };
    calls.put(packChanges(call, form), changesCost(params));
    calls.isBytes = view.takesBytes;
  },
};

/** 0 if the number of leaves will be refused. At least 5, which is room for a packed call: its fields take four keys at most. */
function changesCost(params: Call["params"]): number {
  const count = Array.isArray(params) ? parseCount(params[4], MAX_CHANGES) : undefined;
  return count === undefined ? 0 : CALL_COST + Math.ceil(count / LEAVES_PER_COST);
}

/** @param isAccounts - no cursor within an account's storage belongs to this tree. @throws RpcError INVALID_PARAMS */
function readCursor(value: unknown, isAccounts: boolean): ChangeCursor {
  const digits = typeof value === "string" ? CURSOR.exec(value)?.[1] : undefined;
  const padded = digits?.padStart(2 * INDEX_DIGITS, "0");
  const account = Number.parseInt(padded?.slice(0, INDEX_DIGITS) ?? "", 16);
  const slot = Number.parseInt(padded?.slice(INDEX_DIGITS) ?? "", 16);
  const isEnd = account === LAST_INDEX && slot === LAST_INDEX;
  if (padded !== undefined && !isEnd && !(isAccounts && slot > 0)) return {account, slot};
  throw createValueError("params[3] (cursor)", value, "0x0, or where an answer for this tree ended");
}
