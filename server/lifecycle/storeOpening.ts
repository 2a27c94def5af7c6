/** Opens the store of a command or a service, and closes it. */

import {Engine, type EngineOptions} from "../../workers/engine.ts";
import {type CommandListener, ControlServer} from "./control/controlServer.ts";
import {requireLimits} from "./processLimits.ts";
import {hasPublisherId} from "./publishing/publisherId.ts";
import {openFailed, WorkError} from "./workError.ts";

/** Page cache of the importing thread, for commands without a flag for it. */
export const DEFAULT_CACHE_BYTES = 64 * 2 ** 20;

/** @throws WorkError that names the folder, and, for a missing store, the commands that create one */
export async function openStore(options: EngineOptions): Promise<Engine> {
  requireLimits(options.workers + (options.estimates?.workers ?? 0));
  try {
    return await Engine.open(options);
  } catch (error) {
    throw openFailed(options.directory, error);
  }
}

/** A store that this process has open, which accepts `proofd finalize` and `proofd rollback`. */
export class OwnedStore {
  private constructor(
    readonly engine: Engine,
    private readonly control: ControlServer,
  ) {}

  /**
   * A store that was published keeps changes even while it is not: otherwise the stream could not continue.
   *
   * @throws WorkError if the store cannot be opened, or accepts no commands
   */
  static async open(options: EngineOptions, onCommand: CommandListener): Promise<OwnedStore> {
    const {directory} = options;
    const keepsChanges = options.keepsChanges === true || hasPublisherId(directory);
    const engine = await openStore({...options, keepsChanges});
    try {
      return new OwnedStore(engine, await ControlServer.start(directory, engine, onCommand));
    } catch (error) {
      await engine.discard();
      const reason = (error as Error).message;
      throw new WorkError(`cannot accept commands for the store in ${directory}: ${reason}`, {cause: error});
    }
  }

  /** @param failed - removes a store that was made for this and has no block */
  async close(failed: boolean, onWait: (what: string) => void = () => {}): Promise<void> {
    await this.control.stop();
    await (failed ? this.engine.discard() : this.engine.close(onWait));
    onWait("answers to commands");
    await this.control.close();
  }
}
