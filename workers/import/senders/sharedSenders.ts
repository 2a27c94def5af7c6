/**
 * The senders of one block's transactions, in memory that two threads share: one writes, the other reads.
 *
 *   state u32 | is known u32 | address 20 | is known u32 | address 20 ...        in the order of the transactions
 */
const STATE_WORDS = 1;
const ENTRY_BYTES = 24;
const ENTRY_WORDS = ENTRY_BYTES / 4;
const ADDRESS_BYTES = 20;
/** A transaction is longer: its signature alone is. */
const LEAST_BYTES = 64;

const WAITING = 0;
const BEGUN = 1;
/** The senders are not needed any more. */
const DONE = 2;

export class SharedSenders {
  private readonly words: Int32Array;
  private readonly bytes: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer) {
    this.words = new Int32Array(memory);
    this.bytes = new Uint8Array(memory);
  }

  /** @param blockBytes - length of the block's RLP, which limits the number of transactions */
  static create(blockBytes: number): SharedSenders {
    const entries = Math.ceil(blockBytes / LEAST_BYTES);
    return new SharedSenders(new SharedArrayBuffer(4 * STATE_WORDS + ENTRY_BYTES * entries));
  }

  get isWaiting(): boolean {
    return Atomics.load(this.words, 0) === WAITING;
  }

  get isDone(): boolean {
    return Atomics.load(this.words, 0) === DONE;
  }

  begin(): void {
    Atomics.compareExchange(this.words, 0, WAITING, BEGUN);
  }

  end(): void {
    Atomics.store(this.words, 0, DONE);
  }

  /** @param address - 20 bytes */
  put(position: number, address: Uint8Array): void {
    const word = STATE_WORDS + ENTRY_WORDS * position;
    // Only an invalid block has such a position.
    if (word >= this.words.length) return;
    this.bytes.set(address, 4 * (word + 1));
    Atomics.store(this.words, word, 1);
  }

  /** @returns a copy of 20 bytes; undefined: not known yet, or the signature is invalid */
  find(position: number): Uint8Array | undefined {
    const word = STATE_WORDS + ENTRY_WORDS * position;
    if (word >= this.words.length || Atomics.load(this.words, word) === 0) return undefined;
    return this.bytes.slice(4 * (word + 1), 4 * (word + 1) + ADDRESS_BYTES);
  }
}
