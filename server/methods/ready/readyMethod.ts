import type {RpcCode} from "../../rpc/rpcError.ts";
import type {ReadyMethod, RequestView} from "../method.ts";
import {type Param, ParamList} from "../params.ts";

interface Parts extends Pick<ReadyMethod, "name" | "summary" | "result"> {
  readonly params?: readonly Param[];
  readonly errors?: readonly RpcCode[];
  readonly cost?: number;
  answer(view: RequestView, params: readonly unknown[]): string;
}

/** Makes a method of the main thread from what is its own. */
export function createReady({params = [], errors = [], cost = 0, answer, ...described}: Parts): ReadyMethod {
  const paramList = new ParamList(params);
  return {
    ...described,
    params: paramList,
    errors,
    lane: undefined,
    cost: () => cost,
    answer: (params, view) => answer(view, paramList.read(described, params)),
  };
}
