import type {Method, ReadyMethod} from "../method.ts";
import {describeMethods} from "../openRpc.ts";
import {createReady} from "./readyMethod.ts";

/** The document has 21 KB. A thousand in one request would take the main thread 0.1 s; at this cost, it may ask for a hundred. */
export const DISCOVER_COST = 200;

/** @param listMethods - called once, for the first call */
export function createDiscover(listMethods: () => readonly Method[]): ReadyMethod {
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
