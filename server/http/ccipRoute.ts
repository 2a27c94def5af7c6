/**
 * CCIP-read (EIP-3668): clients send what a contract asks by its error OffchainLookup, and the answer back to it.
 *
 *   GET  /ccip/{sender}/{data}.json               ->  200 {"data":"0x.."}
 *   POST /ccip   {"sender":"0x..","data":"0x.."}      4xx {"message":".."}: the client gives up
 *                                                     5xx {"message":".."}: it asks the contract's next gateway
 *
 * Every contract may ask: JSON-RPC gives the same proofs at the same cost, and nothing proves who the sender is.
 */
import {createSlotsCall} from "../methods/proof/proveSlots.ts";
import type {RequestRecord} from "../request/requestRecord.ts";
import type {Call} from "../rpc/envelope.ts";
import {createValueError, RpcCode} from "../rpc/rpcError.ts";
import type {Header} from "./cors.ts";
import {RETRY_AFTER} from "./refusals.ts";

export const CCIP_PATH = "/ccip";
const GET_PATH = /^\/ccip\/([^/]+)\/([^/]+)\.json$/;
const BAD_REQUEST = "400 Bad Request";
/** The newest block changes. */
const NO_STORE: Header = ["Cache-Control", "no-store"];

export function isCcipPath(path: string): boolean {
  return path === CCIP_PATH || path.startsWith(`${CCIP_PATH}/`);
}

/** The call of a GET. */
export function readCcipPath(path: string): Call {
  const [, sender, data] = GET_PATH.exec(path) ?? [];
  if (sender !== undefined) return createSlotsCall(sender, data);
  const error = createValueError("the path", path, `${CCIP_PATH}/{sender}/{data}.json`);
  return {idText: "0", method: "", params: [], error};
}

/** Status and headers of the answer. */
export function describeCcip({code, isExcess}: RequestRecord): {
  readonly status: string;
  readonly headers: readonly Header[];
} {
  if (isExcess) return {status: BAD_REQUEST, headers: [NO_STORE]};
  switch (code) {
    case 0:
      return {status: "200 OK", headers: [NO_STORE]};
    case RpcCode.PARSE_ERROR:
    case RpcCode.INVALID_PARAMS:
      return {status: BAD_REQUEST, headers: [NO_STORE]};
    case RpcCode.NOT_FINALIZED:
    case RpcCode.LIMIT_EXCEEDED:
      return {status: "503 Service Unavailable", headers: [RETRY_AFTER]};
    case RpcCode.INTERNAL_ERROR:
      return {status: "500 Internal Server Error", headers: []};
    default:
      return {status: "501 Not Implemented", headers: []};
  }
}
