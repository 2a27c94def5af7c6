/** What a service tells programs once it takes requests. */

import type {Engine} from "../../workers/engine.ts";
import type {HttpServer} from "../http/httpServer.ts";
import type {Estimates} from "../methods/estimates.ts";
import {VERSION} from "../version.ts";
import {headFields} from "./control/blockOrder.ts";

/** The fields of the JSON line that `proofd serve` writes. */
export type Announcement = ReturnType<typeof describeService>;

export function describeService(
  host: string,
  port: number,
  http: HttpServer["library"],
  {chain, workers}: Engine,
  estimates: Estimates["kind"],
) {
  return {
    msg: "listening",
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    version: VERSION,
    pid: process.pid,
    http,
    suite: chain.suite,
    workers,
    estimates,
    ...headFields(chain.head()),
  };
}
