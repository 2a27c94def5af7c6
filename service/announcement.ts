/** What a service tells programs once it takes requests. */
import {headFields} from "../server/control/blockOrder.ts";
import type {HttpServer} from "../server/http/httpServer.ts";
import type {Estimates} from "../server/methods/estimates.ts";
import {VERSION} from "../server/version.ts";
import type {Engine} from "../workers/engine.ts";

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
