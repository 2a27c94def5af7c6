/** What raises finality while the service answers requests: layer 1, the layer-2 node, or calls on the admin port. */
import type {Logger} from "pino";
import {AdminServer} from "../../server/control/adminServer.ts";
import type {OrderListener} from "../../server/control/controlServer.ts";
import {FinalityStatus} from "../../server/observe/finalityStatus.ts";
import {Nodes, type NodesEvent} from "../../sync/rpc/nodes.ts";
import type {ProofPool} from "../../workers/engine.ts";
import type {FinalityOptions} from "../flags/finalityFlags.ts";
import {WorkError} from "../workError.ts";
import {Finalizing} from "./finalizing.ts";
import {Layer1Finality} from "./layer1Finality.ts";
import {TagFinality} from "./tagFinality.ts";

export interface RunningFinality {
  /** undefined for calls on the admin port: they have no state. */
  readonly status: FinalityStatus | undefined;
  readonly adminPort: number | undefined;
  /** Ends it, once an order that is under way is done. Call it before the pool is closed. */
  stop(): Promise<void>;
}

/** @throws WorkError if the admin port cannot be listened on */
export async function startFinality(
  options: FinalityOptions,
  pool: ProofPool,
  onOrder: OrderListener,
  log: Logger,
): Promise<RunningFinality> {
  if (options.source === "manual") return startAdmin(options.adminPort, pool, onOrder);
  const {source, pollMs} = options;
  const status = new FinalityStatus(source);
  const child = log.child({finality: source});
  const onEvent = (event: NodesEvent): void => reportNode(event, child);
  const nodes = new Nodes(options.nodes, onEvent);
  const layer2 =
    source === "l1" && options.layer2 !== undefined ? new Nodes(options.layer2, onEvent) : undefined;
  const work =
    source === "l1"
      ? new Layer1Finality(pool, nodes, layer2, options.rollup, status, child)
      : new TagFinality(pool, nodes, status, child);
  const finalizing = new Finalizing(work, status, pollMs, child);
  return {
    status,
    adminPort: undefined,
    async stop() {
      await finalizing.stop();
      await nodes.close();
      await layer2?.close();
    },
  };
}

async function startAdmin(port: number, pool: ProofPool, onOrder: OrderListener): Promise<RunningFinality> {
  try {
    const admin = await AdminServer.start(port, pool, onOrder);
    return {status: undefined, adminPort: admin.port, stop: () => admin.close()};
  } catch (error) {
    throw new WorkError(`--admin-port: cannot listen on 127.0.0.1:${port}: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function reportNode({name, state, reason}: NodesEvent, log: Logger): void {
  log[state === "up" ? "info" : "warn"]({node: name, state, reason}, `a node is ${state}`);
}
