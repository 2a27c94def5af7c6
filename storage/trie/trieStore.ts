/** Stores the pages of tries and contract code: a store on disk, or memory. */
import type {PageWriter} from "../page/pageReader.ts";

export interface TrieStore extends PageWriter {
  /** @param hash - keccak256, 32 bytes */
  findCode(hash: Uint8Array): Uint8Array | undefined;
  putCode(hash: Uint8Array, code: Uint8Array): void;
  /** Starts a transaction. @returns rolls it back: drops everything put since. Call it before anything else is put */
  begin(): () => void;
  /**
   * Awaited from time to time during a large genesis allocation. It may write the pages that were put, or throw to end
   * the work.
   */
  flushIfFull?(): Promise<void>;
}
