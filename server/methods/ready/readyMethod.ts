import type {RpcCode} from "../../rpc/rpcError.ts";
import type {ReadyMethod, RequestView} from "../method.ts";
import {type Param, ParamList} from "../params.ts";
import type {Schema} from "../schema.ts";

interface Parts {
  readonly name: string;
  readonly summary: string;
  readonly params?: readonly Param[];
  readonly result: {readonly name: string; readonly schema: Schema};
  readonly errors?: readonly RpcCode[];
  readonly cost?: number;
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
