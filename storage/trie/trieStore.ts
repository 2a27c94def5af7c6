/** Stores the pages of tries and contract code: a store on disk, or memory. */
import type {PageReader, PageWriter} from "../page/pageReader.ts";

export interface TriePages extends PageReader {
  /** A node of a trie that no page has, though its hash is in one. @param hash - 32 bytes. @returns its RLP */
  findNode(hash: Uint8Array): Uint8Array | undefined;
}

export interface TriePageWriter extends PageWriter, TriePages {
  /** @param hash - keccak256 of `node` */
  putNode(hash: Uint8Array, node: Uint8Array): void;
}

export interface TrieStore extends TriePageWriter {
  /** @param hash - keccak256, 32 bytes */
  findCode(hash: Uint8Array): Uint8Array | undefined;
  putCode(hash: Uint8Array, code: Uint8Array): void;
  /** Starts a transaction, before anything else is put. @returns rolls it back: drops what was put since */
  begin(): () => void;
  /** Awaited during a large genesis allocation: it may write the pages that were put. */
  flushIfFull?(): Promise<void>;
}
