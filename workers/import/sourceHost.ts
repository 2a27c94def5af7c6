/** What a source has of the import, and what the import has of a source. */
import type {StateReader} from "../../storage/block/stateReader.ts";
import type {BlockWriter} from "../../storage/commit/blockWriter.ts";
import type {FinalityStep} from "../../storage/commit/finalityStep.ts";
import type {SourceEvent} from "../messages/importSource.ts";
import type {InputFile} from "./inputFile.ts";
import type {SourceBlock} from "./sourceBlock.ts";

export interface SourceHost {
  /** Returns the writer of the store, which a rollback replaces. */
  readonly writer: () => BlockWriter;
  /**
   * Removes the blocks above `to`. Call it while the import waits for the next block.
   *
   * @throws StoreError FINALIZED, BLOCK_UNKNOWN: nothing is removed; WRITE_FAILED
   */
  readonly rollback: (to: number) => Promise<void>;
  /**
   * Marks the blocks up to `block`, whose hash must be `hash`, as finalized. Call it while the import waits for the next block.
   *
   * @throws StoreError FINALITY_CONFLICT: nothing is marked; WRITE_FAILED
   */
  readonly finalize: (block: number, hash: Uint8Array) => Promise<void>;
  /** Records what layer 1 finalized. As `finalize`. */
  readonly recordFinality: (step: FinalityStep) => Promise<void>;
  readonly reader: StateReader;
  readonly signal: AbortSignal;
  readonly onEvent: (event: SourceEvent) => void;
}

export interface OpenedSource {
  readonly blocks: AsyncGenerator<SourceBlock>;
  readonly input: Pick<InputFile, "bytesRead" | "bytesTotal"> & {
    /** The block that the source is on the way to, once it is known. */
    readonly target?: () => number | undefined;
  };
}
