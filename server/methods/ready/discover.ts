import type {Method, ReadyMethod} from "../method.ts";
import {describeMethods} from "../openRpc.ts";
import {ParamList} from "../params.ts";

const NAME = "rpc.discover";
/**
 * The document has 21 KB: a hundred of them, which is what one request may ask for at this cost, keep the main thread for
 * 12 ms, and a batch of a thousand would for 0.1 s.
 */
export const DISCOVER_COST = 200;

/** @param listMethods - called when the first caller asks */
export function createDiscover(listMethods: () => readonly Method[]): ReadyMethod {
  let text: string | null = null;
  return {
    name: NAME,
    summary: "This document: the methods, their parameters, results and errors.",
    params: new ParamList(NAME, []),
    result: {
      name: "OpenRPC document",
      schema: {type: "object", required: ["openrpc", "info", "methods"]},
    },
    errors: [],
    lane: null,
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
