/**
 * The chain as this process sees it: the head, finality and blocks by hash or number, for whoever needs no tree.
 *
 *   chainWrites.ts -- setHead --> ChainView -- onChange --> whoever waits for a block or its finality
 *
 * Another process may not have the store open, so nothing changes that is not told here.
 */
import type {ChainConfig} from "../../storage/block/blockDifference.ts";
import type {StateReader} from "../../storage/block/stateReader.ts";
import {type Failure, failureOf} from "../job/failure.ts";
import type {Head} from "../job/head.ts";

/** A block as chain_getStateRoot shows it. */
export interface BlockSummary {
  readonly number: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** 32 bytes: the top root of the account tree. */
  readonly stateRoot: Uint8Array;
  /** Seconds, as a rule since 1970; undefined: its source did not say. */
  readonly timestamp?: bigint;
}

/**
 * Called after the head changed, at once and in the order of the changes. `latest` falls by a rollback only: the blocks above
 * it are gone, and others may come under their numbers. `finalized` never falls.
 */
export type HeadListener = (head: Head, before: Head) => void;

export class ChainView {
  private readonly reader: StateReader;
  private current: Head;
  /** Read once: block 0 fixes it. */
  private chain: ChainConfig | undefined;
  private readonly expectedChainId: bigint | undefined;
  private readonly listeners = new Set<HeadListener>();

  /**
   * @param head - of `reader`'s store, which stays the caller's
   * @param expectedChainId - what the chain's id is where block 0 does not say
   */
  constructor(reader: StateReader, head: Head, expectedChainId: bigint | undefined) {
    this.reader = reader;
    this.current = head;
    this.expectedChainId = expectedChainId;
  }

  get suite(): string {
    return this.reader.suite.name;
  }

  /** undefined where neither block 0 nor whoever opened the store names one. */
  get chainId(): bigint | undefined {
    this.chain ??= this.reader.readChain();
    return this.chain?.chainId ?? this.expectedChainId;
  }

  head(): Head {
    return this.current;
  }

  /**
   * @param hash - 32 bytes
   * @returns the block's number, or undefined if no block held has it
   */
  findBlock(hash: Uint8Array): number | undefined {
    return this.reader.findBlock(hash);
  }

  readBlock(block: number): BlockSummary | Failure {
    try {
      const {header, stateRoot} = this.reader.blockOrThrow(block);
      const {hash, timestamp} = header;
      return {number: block, hash, stateRoot, ...(timestamp === undefined ? {} : {timestamp})};
    } catch (error) {
      return failureOf(error);
    }
  }

  /** @returns a function that ends the calls */
  onChange(listener: HeadListener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Only for what writes the chain, when the change is on disk. */
  setHead(head: Head): void {
    const before = this.current;
    const isSame =
      head.earliest === before.earliest &&
      head.finalized === before.finalized &&
      head.latest === before.latest;
    if (isSame) return;
    this.current = head;
    for (const listener of this.listeners) listener(head, before);
  }
}
