/** What a source may use while it reads, and where it reports its progress. */
import type {InputProgress} from "../../nodes/files/inputFile.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {SourceEvent} from "../messages/importSource.ts";

export interface SourceHost {
  /** Tells which blocks there are, flushed or not. */
  readonly writer: BlockWriter;
  readonly reader: StateReader;
  readonly signal: AbortSignal;
  readonly progress: SourceProgress;
  /** Reports what connections and threads do. */
  readonly onEvent: (event: SourceEvent) => void;
}

/** The source writes it, the import reports it. */
export interface SourceProgress extends InputProgress {
  /** The block up to which the source reads now; undefined: unknown. */
  target: number | undefined;
}
