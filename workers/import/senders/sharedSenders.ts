/**
 * The senders of one block's transactions, in memory that two threads share. One thread writes them, the other reads what is there.
 *
 *   is known u32 | address 20        of each transaction
 */

const ENTRY_BYTES = 24;
const ENTRY_WORDS = ENTRY_BYTES / 4;
const ADDRESS_AT = 4;
const ADDRESS_BYTES = 20;

export class SharedSenders {
  private readonly words: Int32Array;
  private readonly bytes: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.bytes = new Uint8Array(memory);
  }

  /** @param count - of the transactions */
  static create(count: number): SharedSenders {
    return new SharedSenders(new SharedArrayBuffer(ENTRY_BYTES * count));
  }

  /** @param address - 20 bytes */
  put(position: number, address: Uint8Array): void {
    this.bytes.set(address, ENTRY_BYTES * position + ADDRESS_AT);
    Atomics.store(this.words, ENTRY_WORDS * position, 1);
  }

  /** @returns 20 bytes of its own; undefined: not known yet, or nobody can have signed */
  find(position: number): Uint8Array | undefined {
    if (Atomics.load(this.words, ENTRY_WORDS * position) === 0) return undefined;
    const at = ENTRY_BYTES * position + ADDRESS_AT;
    return this.bytes.slice(at, at + ADDRESS_BYTES);
  }
}
