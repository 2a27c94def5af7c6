/**
 * What the writers of this folder write to. A store (stateStore.ts) is one.
 */
import type {Level} from "level";
import type {StateReader} from "../block/stateReader.ts";

export interface WriteTarget {
  readonly reader: StateReader;
  readonly db: Level<Buffer, Buffer>;
  /** The folder of LevelDB's files and of the note of acknowledged blocks. */
  readonly directory: string;
}
