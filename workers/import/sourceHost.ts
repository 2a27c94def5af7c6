/** What a source may look at while it reads, and where it says how far it is. */

import type {InputProgress} from "../../nodes/files/inputFile.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {SourceEvent} from "../messages/importSource.ts";

export interface SourceHost {
  /** Of the store: sources read from it which blocks there are, written to disk or not. */
  readonly writer: BlockWriter;
  readonly reader: StateReader;
  readonly signal: AbortSignal;
  readonly progress: SourceProgress;
  /** Reports what connections and threads do, at any time. */
  readonly onEvent: (event: SourceEvent) => void;
}

/** The source writes it, the import reports it. */
export interface SourceProgress extends InputProgress {
  /** The block up to which the source reads now; undefined: not known. */
  target: number | undefined;
}
