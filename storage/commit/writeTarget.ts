/**
 * What the writers of this folder write to. The store is one (stateStore.ts).
 */
import type {Level} from "level";
import type {StateReader} from "../block/stateReader.ts";

export interface WriteTarget {
  readonly reader: StateReader;
  readonly db: Level<Buffer, Buffer>;
  /** Of LevelDB's files, where the note of what was acknowledged lies too. */
  readonly directory: string;
}
