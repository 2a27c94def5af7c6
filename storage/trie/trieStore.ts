/** Stores the pages of tries and contract code: a store on disk, or memory. */
import type {PageWriter} from "../page/pageReader.ts";

export interface TrieStore extends PageWriter {
  /** @param hash - keccak256, 32 bytes */
  findCode(hash: Uint8Array): Uint8Array | undefined;
  putCode(hash: Uint8Array, code: Uint8Array): void;
  /** Starts a transaction, before anything else is put. @returns rolls it back: drops what was put since */
  begin(): () => void;
  /** Awaited during a large genesis allocation: it may write the pages that were put. */
  flushIfFull?(): Promise<void>;
}
