/**
 * Calls that the node of `--gateway` answers, so that a client needs one URL. That node knows the newest block and the
 * transactions; proofd has the states of finalized blocks:
 *
 *   READS, and what --gateway-methods names          always
 *   eth_getBalance .., eth_call at some block        if proofd does not have its state
 *   chain_estimateGas, chain id                      if proofd does not know the answer
 */

import type {Gateway} from "../../gateway/gateway.ts";
import {
  FORWARD_COST,
  FORWARDED_BYTES_PER_COST,
  FORWARDED_CHARACTERS_PER_COST,
  LONG_FORWARD_COST,
  MAX_CALL_TEXT_BYTES,
  MAX_FORWARDED_CHARACTERS,
} from "../../limits.ts";
import {LaneId} from "../../request/requestCalls.ts";
import type {Call} from "../../rpc/envelope.ts";
import {requireExactValues} from "../../rpc/exactValues.ts";
import {encodeQuantity} from "../../rpc/quantity.ts";
import {createLimitError, createValueError, RpcCode, RpcError} from "../../rpc/rpcError.ts";
import type {ForwardedMethod, Method, OwnMethod, RequestView} from "../method.ts";
import {namesLatest, resolveSelector} from "../selector.ts";
import type {ForwardedCalls} from "./forwardedCalls.ts";

/** What a call costs, and how long its answer may be. */
interface Size {
  readonly cost: number;
  readonly bytes: number;
}

/** A value, or what a call returns. */
const SHORT: Size = {cost: FORWARD_COST, bytes: MAX_CALL_TEXT_BYTES};
/** A transaction, a receipt, a block with the hashes of its transactions. */
const MEDIUM: Size = {cost: FORWARD_COST, bytes: FORWARD_COST * FORWARDED_BYTES_PER_COST};
/** Lists of transactions, receipts or logs. */
const LONG: Size = {cost: LONG_FORWARD_COST, bytes: LONG_FORWARD_COST * FORWARDED_BYTES_PER_COST};

/** Methods that change nothing. */
const READS: ReadonlyMap<string, Size> = new Map([
  ["eth_blobBaseFee", SHORT],
  ["eth_blockNumber", SHORT],
  ["eth_createAccessList", MEDIUM],
  ["eth_estimateGas", SHORT],
  ["eth_feeHistory", MEDIUM],
  ["eth_gasPrice", SHORT],
  ["eth_getBlockByHash", LONG],
  ["eth_getBlockByNumber", LONG],
  ["eth_getBlockReceipts", LONG],
  ["eth_getBlockTransactionCountByHash", SHORT],
  ["eth_getBlockTransactionCountByNumber", SHORT],
  ["eth_getLogs", LONG],
  ["eth_getTransactionByBlockHashAndIndex", MEDIUM],
  ["eth_getTransactionByBlockNumberAndIndex", MEDIUM],
  ["eth_getTransactionByHash", MEDIUM],
  ["eth_getTransactionReceipt", MEDIUM],
  ["eth_getUncleByBlockHashAndIndex", SHORT],
  ["eth_getUncleByBlockNumberAndIndex", SHORT],
  ["eth_getUncleCountByBlockHash", SHORT],
  ["eth_getUncleCountByBlockNumber", SHORT],
  ["eth_maxPriorityFeePerGas", SHORT],
  ["eth_syncing", SHORT],
]);
/** Methods whose second parameter asks for whole transactions. */
const BLOCKS: ReadonlySet<string> = new Set(["eth_getBlockByHash", "eth_getBlockByNumber"]);

/** Position of the block among the parameters of methods that read one state. */
const BLOCK_AT: ReadonlyMap<string, number> = new Map([
  ["eth_getBalance", 1],
  ["eth_getTransactionCount", 1],
  ["eth_getCode", 1],
  ["eth_getStorageAt", 2],
  ["eth_call", 1],
]);
/** Tags of blocks that clients ask proofs for. The node may not agree with proofd on what is finalized. */
const OWN_TAGS: ReadonlySet<unknown> = new Set(["finalized", "safe", "earliest"]);

/** @param named - methods of --gateway-methods. @returns the methods that a process with a gateway has instead or besides */
export function listForwarded(own: readonly OwnMethod[], named: readonly string[]): Method[] {
  return [
    ...own.flatMap(method => {
      const isElsewhere = findRule(method);
      if (isElsewhere === undefined) return [];
      const forwarded = createForwarded(method.name, SHORT, true);
      const forwardedTo: OwnMethod["forwardedTo"] = (params, view) =>
        isElsewhere(params, view) ? forwarded : undefined;
      return [{...method, forwardedTo}];
    }),
    ...[...READS].map(([name, size]) => createForwarded(name, size, true)),
    ...named.map(name => createForwarded(name, LONG, false)),
  ];
}

type Rule = (params: Call["params"], view: RequestView) => boolean;

/** @returns which calls of a method are forwarded. undefined: none */
function findRule({name}: OwnMethod): Rule | undefined {
  if (name === "eth_chainId" || name === "net_version") return (_, {chain}) => chain.chainId === undefined;
  if (/^(?!eth_).*_estimateGas$/.test(name)) return (_, {estimates}) => estimates.kind === "none";
  const at = BLOCK_AT.get(name);
  if (at === undefined) return undefined;
  return (params, view) => Array.isArray(params) && !hasState(name, params, params[at] ?? "latest", view);
}

/** Whether proofd has what the method reads, or refuses the call for another reason. */
function hasState(name: string, params: readonly unknown[], selector: unknown, view: RequestView): boolean {
  if (namesLatest(selector)) return false;
  const {chain, estimates} = view;
  try {
    const block = resolveSelector(selector, "block", "provable", view);
    if (name === "eth_call") return estimates.kind === "here" && chain.canRunCalls();
    return chain.hasAccount(params[0], block, name === "eth_getCode");
  } catch (error) {
    // The method itself reports a damaged record.
    return !(error instanceof RpcError) || error.code === RpcCode.INVALID_PARAMS;
  }
}

/** @param isRead - it changes nothing, so it may be sent twice */
function createForwarded(name: string, size: Size, isRead: boolean): ForwardedMethod<ForwardedCalls> {
  const isBlock = BLOCKS.has(name);
  const sizeOf = (params: Call["params"]): Size =>
    isBlock && Array.isArray(params) && params[1] !== true ? MEDIUM : size;
  return {
    name,
    lane: LaneId.GATEWAY,
    cost: params => sizeOf(params).cost,
    maxTextBytes: (_cost, _view, params) => sizeOf(params).bytes,
    prepare(params, view, calls) {
      if (!Array.isArray(params)) throw createValueError("params", params, "an array");
      // The node has its own rules. Only values that JSON.parse may have changed are refused here.
      requireExactValues(params, "params");
      const paramsText = JSON.stringify(withOwnBlock(params, isBlock ? 0 : BLOCK_AT.get(name), view));
      if (paramsText.length > MAX_FORWARDED_CHARACTERS)
        throw createLimitError("params", MAX_FORWARDED_CHARACTERS, paramsText.length, "characters of JSON");
      const {cost, bytes} = sizeOf(params);
      const call = {method: name, paramsText, maxAnswerBytes: bytes, isRead};
      const gateway = view.gateway as Gateway;
      const paramsCost = Math.floor(paramsText.length / FORWARDED_CHARACTERS_PER_COST);
      calls.add(idText => gateway.forward(call, idText), cost + paramsCost);
    },
  };
}

/** Puts a number in place of a tag of which proofd decides. @param at - position of the block. undefined: there is none */
function withOwnBlock(
  params: readonly unknown[],
  at: number | undefined,
  view: RequestView,
): readonly unknown[] {
  if (at === undefined || !OWN_TAGS.has(params[at])) return params;
  const column = at === 0 ? "header" : "provable";
  return params.with(at, encodeQuantity(resolveSelector(params[at], `params[${at}] (block)`, column, view)));
}
