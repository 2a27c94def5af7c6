/** Chooses the trees of a proof: those of the store's suite, or Ethereum's tries (suite keccak). */
import {KECCAK_SUITE} from "../../../workers/messages/packedCall.ts";
import {createValueError} from "../../rpc/rpcError.ts";
import type {RequestView} from "../method.ts";
import type {Param} from "../params.ts";
import {nullable} from "../schema.ts";

export const SUITE_PARAM: Param = {
  name: "suite",
  required: false,
  schema: nullable({title: "suite", type: "string", enum: ["sha256", "poseidon2", KECCAK_SUITE]}),
};

/** Whether the proof is one of Ethereum's tries. Default: it is one of the store's own suite. */
export function namesTrie(suite: unknown, {chain}: RequestView): boolean {
  return (suite ?? chain.suite) === KECCAK_SUITE;
}

/** As namesTrie. @param position - of the parameter. @throws RpcError INVALID_PARAMS */
export function readIsTrie(suite: unknown, position: number, view: RequestView): boolean {
  const isTrie = namesTrie(suite, view);
  const own = view.chain.suite;
  if (isTrie || (suite ?? own) === own) return isTrie;
  const names = [...new Set([own, KECCAK_SUITE])].map(name => `"${name}"`);
  throw createValueError(`params[${position}] (suite)`, suite, names.join(" or "));
}
