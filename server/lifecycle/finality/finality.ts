/** Follows finality while the service answers requests. */
import type {Logger} from "pino";
import {Nodes, type NodesEvent, type NodesSettings} from "../../../nodes/rpc/nodes.ts";
import type {Engine} from "../../../workers/engine.ts";
import {FinalityStatus} from "../../observe/finalityStatus.ts";
import type {FinalityOptions} from "../serviceOptions.ts";
import {Finalizing} from "./finalizing.ts";
import {Layer1Finality} from "./layer1Finality.ts";
import {TagFinality} from "./tagFinality.ts";

export interface RunningFinality {
  readonly status: FinalityStatus;
  /** Completes a running command first. Call it before the engine is closed. */
  stop(): Promise<void>;
}

/** Answers are read on the main thread: names of blocks, hashes of transactions. */
const MAX_ANSWER_BYTES = 4 << 20;

export function startFinality(options: FinalityOptions, engine: Engine, log: Logger): RunningFinality {
  const {source, pollMs} = options;
  const status = new FinalityStatus(source);
  const child = log.child({finality: source});
  const onEvent = ({name, state, reason}: NodesEvent): void => {
    if (state === "up") status.nodes.delete(name);
    else status.nodes.set(name, {state, reason});
    child[state === "up" ? "info" : "warn"]({node: name, state, reason}, `a node is ${state}`);
  };
  const open = (settings: NodesSettings) =>
    new Nodes({...settings, maxAnswerBytes: MAX_ANSWER_BYTES}, onEvent);
  const nodes = open(options.nodes);
  const layer2 = source === "l1" && options.layer2 !== undefined ? open(options.layer2) : undefined;
  const work =
    source === "l1"
      ? new Layer1Finality(engine, nodes, layer2, options.rollup, status, child)
      : new TagFinality(engine, nodes, status, child);
  const finalizing = new Finalizing(work, status, pollMs, child);
  return {
    status,
    async stop() {
      await finalizing.stop();
      await nodes.close();
      await layer2?.close();
    },
  };
}
