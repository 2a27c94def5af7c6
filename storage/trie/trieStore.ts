/** Where the pages of tries and the codes of contracts are: the caller's store, or memory. */
import type {PageWriter} from "../page/pageReader.ts";

export interface TrieStore extends PageWriter {
  /** @param hash - keccak256, 32 bytes */
  findCode(hash: Uint8Array): Uint8Array | undefined;
  putCode(hash: Uint8Array, code: Uint8Array): void;
  /** @returns what drops all that is put from now on. Call it before anything else is put */
  begin(): () => void;
  /** Awaited from time to time while a large allocation is put. It may write what was put, or throw to end the work. */
  flushIfFull?(): Promise<void>;
}
