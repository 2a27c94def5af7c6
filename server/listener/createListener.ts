/** Chooses what listens (--http). */
import type {Logger} from "pino";
import type {Exchanges, Listener} from "./exchange.ts";
import {BinaryChanged} from "./uwsLibrary.ts";
import {UwsListener} from "./uwsListener.ts";

export const HTTP_LIBRARIES = ["auto", "uws", "node"] as const;

export interface ListenerOptions {
  /** auto: uWebSockets.js where it loads, else Node's own. Default: auto. */
  readonly http?: (typeof HTTP_LIBRARIES)[number] | undefined;
}

/** @throws Error if --http uws cannot be kept, or a binary of uWebSockets.js was changed */
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
        throw new Error(`--http uws: uWebSockets.js does not load here: ${reason}. Use --http auto or node`);
      log.info({reason}, "uWebSockets.js does not load here: Node's own HTTP server is used");
    }
  }
  const {NodeListener} = await import("./nodeListener.ts");
  return new NodeListener(exchanges, log);
}
