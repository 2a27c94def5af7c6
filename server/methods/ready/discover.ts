import type {Method, ReadyMethod} from "../method.ts";
import {describeMethods} from "../openRpc.ts";
import {ParamList} from "../params.ts";

const NAME = "rpc.discover";
/**
 * The document has 21 KB. At this cost, one request may ask for a hundred of them, which takes the main thread 12 ms. A
 * thousand would take 0.1 s.
 */
export const DISCOVER_COST = 200;

/** @param listMethods - called once, for the first call */
export function createDiscover(listMethods: () => readonly Method[]): ReadyMethod {
  let text: string | undefined;
  return {
    name: NAME,
    summary: "This document: the methods, their parameters, results and errors.",
    params: new ParamList(NAME, []),
    result: {
      name: "OpenRPC document",
      schema: {type: "object", required: ["openrpc", "info", "methods"]},
    },
    errors: [],
    lane: undefined,
    cost() {
      return DISCOVER_COST;
    },
    answer(params) {
      this.params.read(params);
      text ??= JSON.stringify(describeMethods(listMethods()));
      return text;
    },
  };
}
