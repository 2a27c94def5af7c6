/** Calls of chain_estimateGas for unit tests, against one small chain. Refused calls are told apart by their message. */
import assert from "node:assert/strict";
import {decodeHex, encodeHex} from "../../../client/bytes/hex.ts";
import {parseEstimateCall} from "../../../server/methods/calls/estimateParams.ts";
import type {BlockView} from "../../../server/methods/selector.ts";
import {RpcCode, RpcError} from "../../../server/rpc/rpcError.ts";
import {PrunedBlocks} from "../../../storage/prune/prunedBlocks.ts";
import type {EstimateCall} from "../../../workers/messages/estimateCall.ts";
import {finishWork} from "../http/wholeWork.ts";

export const HASH = `0x${"c3".repeat(32)}`;
/** Blocks 2 to 9, finalized up to 7; HASH is that of block 5. */
export const VIEW: BlockView = {
  head: {earliest: 2, finalized: 7, latest: 9},
  chain: {
    pruned: new PrunedBlocks(),
    findBlock: hash => (encodeHex(hash) === HASH ? 5 : undefined),
    chainId: 59_144n,
  },
};
export const ADDRESS = `0x${"Ab".repeat(20)}`;
export const ADDRESS_BYTES = decodeHex(ADDRESS.toLowerCase());
export const AUTHORIZATION = {chainId: 1, address: ADDRESS, nonce: "0x2", yParity: "0x1", r: "0x3", s: "4"};
/** The fields that a client need not send. */
const NOT_SENT = {
  type: undefined,
  from: undefined,
  to: undefined,
  gas: undefined,
  gasPrice: undefined,
  maxFeePerGas: undefined,
  maxPriorityFeePerGas: undefined,
  nonce: undefined,
  accessList: undefined,
  authorizationList: undefined,
  overrides: undefined,
  blockOverrides: undefined,
};
export const EMPTY_CALL: EstimateCall = {
  ...NOT_SENT,
  block: 9,
  isLatest: true,
  value: 0n,
  data: new Uint8Array(0),
};

export function parseParams(params: readonly unknown[], view = VIEW): EstimateCall {
  return finishWork(parseEstimateCall("chain_estimateGas", params, view));
}

export function parseCall(call: Readonly<Record<string, unknown>>): EstimateCall {
  return parseParams([call]);
}

export function refusal(params: readonly unknown[], view = VIEW): RpcError {
  try {
    finishWork(parseEstimateCall("chain_estimateGas", params, view));
  } catch (error) {
    assert.ok(error instanceof RpcError, String(error));
    return error;
  }
  return assert.fail(`${JSON.stringify(params)} was accepted`);
}

export function assertRefused(table: readonly (readonly [readonly unknown[], RegExp])[]): void {
  for (const [params, message] of table) {
    const error = refusal(params);
    assert.equal(error.code, RpcCode.INVALID_PARAMS, String(message));
    assert.match(error.message, message);
    assert.ok(error.message.length < 400, error.message);
  }
}

export function assertCallsRefused(table: readonly (readonly [Record<string, unknown>, RegExp])[]): void {
  assertRefused(table.map(([call, message]) => [[call], message]));
}

/** 32 bytes. */
export function createWord(value: number): Uint8Array {
  return Uint8Array.of(...new Uint8Array(31), value);
}
