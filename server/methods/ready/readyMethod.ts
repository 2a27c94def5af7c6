import type {RpcCode} from "../../rpc/rpcError.ts";
import type {ReadyMethod, RequestView} from "../method.ts";
import {type Param, ParamList} from "../params.ts";
import type {Schema} from "../schema.ts";

interface Parts {
  readonly name: string;
  readonly summary: string;
  /** Default: none. */
  readonly params?: readonly Param[];
  readonly result: {readonly name: string; readonly schema: Schema};
  /** Default: none. */
  readonly errors?: readonly RpcCode[];
  /** Default: 0. */
  readonly cost?: number;
  /** @returns the result as JSON text. @throws RpcError. Any other error is a fault of this service */
  answer(view: RequestView, params: readonly unknown[]): string;
}

/** Makes a method of the main thread from what is its own. */
export function createReady({
  name,
  summary,
  params = [],
  result,
  errors = [],
  cost = 0,
  answer,
}: Parts): ReadyMethod {
  const paramList = new ParamList(name, params);
  return {
    name,
    summary,
    params: paramList,
    result,
    errors,
    lane: undefined,
    cost: () => cost,
    answer: (params, view) => answer(view, paramList.read(params)),
  };
}
