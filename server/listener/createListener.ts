/** Chooses what listens (--http). */
import type {Logger} from "pino";
import type {Exchanges, Listener} from "./exchange.ts";

export const HTTP_LIBRARIES = ["auto", "uws", "node"] as const;

export interface ListenerOptions {
  /** auto: uWebSockets.js where it loads, else Node's own. Default: auto. */
  readonly http?: (typeof HTTP_LIBRARIES)[number] | undefined;
}

/** @throws Error if --http uws cannot be kept */
export async function createListener(
  {http = "auto"}: ListenerOptions,
  exchanges: Exchanges,
  log: Logger,
): Promise<Listener> {
  if (http !== "node") {
    try {
      const {UwsListener} = await import("./uwsListener.ts");
      return await UwsListener.load(exchanges);
    } catch (error) {
      const [reason] = (error as Error).message.split("\n");
      if (http === "uws")
        throw new Error(`--http uws: uWebSockets.js does not load here: ${reason}. Use --http auto or node`);
      log.info({reason}, "uWebSockets.js does not load here: Node's own HTTP server is used");
    }
  }
  const {NodeListener} = await import("./nodeListener.ts");
  return new NodeListener(exchanges, log);
}
