/** Log lines of the pruning while the service answers requests. */
import type {Logger} from "pino";
import type {PruneEvent} from "../../workers/chain/pruner.ts";

export function logPruning(log: Logger): (event: PruneEvent) => void {
  return event => {
    switch (event.kind) {
      case "begin":
        log.info(event.run, "pruning blocks that are not kept");
        break;
      case "end": {
        const {blocks, pages, ms} = event;
        log.info({blocks, pages, ms: Math.round(ms)}, "pruned");
        break;
      }
      case "failed":
        log.error(
          {err: event.error},
          "pruning failed: no more blocks are pruned until the store is opened again",
        );
    }
  };
}
