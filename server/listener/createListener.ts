/** Chooses what listens (--http). */
import type {Logger} from "pino";
import type {Exchanges, Listener} from "./exchange.ts";
import {UWS_NEEDS} from "./uwsBinaries.ts";
import {BinaryChanged, UwsRefused} from "./uwsLibrary.ts";
import {UwsListener} from "./uwsListener.ts";

export const HTTP_LIBRARIES = ["auto", "uws", "node"] as const;

export interface ListenerOptions {
  /** auto: uWebSockets.js where it loads, else Node's own. Default: auto. */
  readonly http?: (typeof HTTP_LIBRARIES)[number] | undefined;
}

/** @throws UwsRefused if --http uws finds no library that loads, or a binary of uWebSockets.js was changed */
export async function createListener(
  {http = "auto"}: ListenerOptions,
  exchanges: Exchanges,
  log: Logger,
): Promise<Listener> {
  if (http !== "node") {
    try {
      return UwsListener.load(exchanges);
    } catch (error) {
      if (error instanceof BinaryChanged) throw error;
      const [reason] = (error as Error).message.split("\n");
      if (http === "uws")
        throw new UwsRefused(
          `--http uws: uWebSockets.js does not load: ${reason}. It needs ${UWS_NEEDS}. Use that, --http auto or --http node`,
        );
      log.warn(
        {reason, needs: UWS_NEEDS},
        "uWebSockets.js does not load: Node's own HTTP server is used, which takes about twice the processor time for a request; --http node does so without this warning",
      );
    }
  }
  const {NodeListener} = await import("./nodeListener.ts");
  return new NodeListener(exchanges, log);
}
