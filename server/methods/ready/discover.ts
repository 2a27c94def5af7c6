import {RpcCode} from "../../rpc/rpcError.ts";
import {VERSION} from "../../version.ts";
import type {OwnMethod, ReadyMethod} from "../method.ts";
import {createReady} from "./readyMethod.ts";

/** The document has 80 KB. A thousand in one request would take the main thread 0.1 s; at this cost, it may ask for a hundred. */
const DISCOVER_COST = 200;

/** @param listMethods - called once, for the first call */
export function createDiscover(listMethods: () => readonly OwnMethod[]): ReadyMethod {
  let text: string | undefined;
  return createReady({
    name: "rpc.discover",
    summary: "This document: the methods, their parameters, results and errors.",
    result: {
      name: "OpenRPC document",
      schema: {type: "object", required: ["openrpc", "info", "methods"]},
    },
    cost: DISCOVER_COST,
    answer() {
      text ??= JSON.stringify(describeMethods(listMethods()));
      return text;
    },
  });
}

const SPECIFICATION = "1.3.2";

/** The meaning of each code. docs/json-rpc.md describes the data of each. */
const MEANINGS: Readonly<Record<RpcCode, string>> = {
  [RpcCode.PARSE_ERROR]: "the body is not JSON",
  [RpcCode.INVALID_REQUEST]:
    "not a request object or an empty batch; for the methods of --namespace, a block that cannot be proved",
  [RpcCode.METHOD_NOT_FOUND]: "no such method",
  [RpcCode.INVALID_PARAMS]: "wrong parameters",
  [RpcCode.INTERNAL_ERROR]: "internal error",
  // RULES_UNKNOWN has the same code.
  [RpcCode.BLOCK_UNKNOWN]: "the block, or for estimates and calls the chain's rules, are unknown here",
  // UPSTREAM_DOWN has the same code.
  [RpcCode.NOT_FINALIZED]: "the block is in the store but not finalized, or the gateway did not answer",
  [RpcCode.NOT_AVAILABLE]: "not available in this configuration",
  [RpcCode.LIMIT_EXCEEDED]: "a limit was exceeded",
  [RpcCode.EXECUTION_REVERTED]: "the call reverts",
  [RpcCode.EXECUTION_FAILED]: "the call fails",
};

/** Errors that every method has. Errors of a whole body belong to no method. */
const COMMON: readonly RpcCode[] = [RpcCode.INVALID_PARAMS, RpcCode.LIMIT_EXCEEDED, RpcCode.INTERNAL_ERROR];

/** The OpenRPC document of a list of methods (https://spec.open-rpc.org, version 1.3.2). */
function describeMethods(methods: readonly OwnMethod[]): object {
  return {
    openrpc: SPECIFICATION,
    info: {
      title: "proofd",
      version: VERSION,
      description: "Proofs of a rollup's state, and gas estimates. JSON-RPC 2.0 over HTTP POST.",
      license: {name: "Apache-2.0"},
    },
    methods: methods.map(describeMethod),
  };
}

function describeMethod({name, summary, params, result, errors}: OwnMethod): object {
  return {
    name,
    summary,
    paramStructure: "by-position",
    params: params.list,
    result,
    errors: [...COMMON, ...errors].map(code => ({code, message: MEANINGS[code]})),
  };
}
