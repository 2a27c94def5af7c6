/**
 * Memory for the texts of answers. All threads share it, and it is used again and again:
 *
 *   take() -> its number in a job -> a proof thread writes -> pieces (server/request/taskText.ts) -> release() -> take() ...
 *
 * New memory for each answer would cost more. At 2 000 answers of 6.5 KB a second, V8 marked the main thread's whole
 * heap every second, because of the memory outside of it, and the kernel clears each new page before it is written.
 *
 * Nothing but its owner's care keeps memory from being written again while somebody reads it. So an answer that waits
 * for a slow reader may keep its memory only if it fills a good part of it, and only KEPT_MEMORIES may be kept. All
 * others are copied out.
 */

/** 128 proofs take 820 KB, or 1.6 MB if all are of absence. A longer text has memory of its own. */
const ANSWER_MEMORY_BYTES: number = 1 << 21;

/** How many may wait for slow readers. Only pages that an answer covered are resident: 13 MB after batches. */
export const KEPT_MEMORIES = 16;

export class AnswerMemory {
  private isKept = false;

  constructor(
    /** Its place among the memories, for the thread. */
    readonly number: number,
    readonly bytes: Uint8Array,
    private readonly owner: AnswerMemories,
  ) {}

  /** Asks whether it may wait for a slow reader. If not, what waits must be copied, and the memory released. */
  keep(): boolean {
    if (this.isKept) return true;
    this.isKept = this.owner.kept < KEPT_MEMORIES;
    if (this.isKept) this.owner.kept++;
    return this.isKept;
  }

  /** Gives it back. Nobody reads or writes it any more. */
  release(): void {
    if (this.isKept) this.owner.kept--;
    this.isKept = false;
    this.owner.spares.push(this);
  }
}

export class AnswerMemories {
  readonly shared: SharedArrayBuffer;
  /** Those that nobody uses, the last one used at the end. */
  readonly spares: AnswerMemory[];
  kept = 0;

  /** @param jobs - written at the same time. One more answer is being sent, and others wait for their readers */
  constructor(jobs: number, memoryBytes = ANSWER_MEMORY_BYTES) {
    this.shared = new SharedArrayBuffer((jobs + 1 + KEPT_MEMORIES) * memoryBytes);
    this.spares = splitMemories(this.shared, memoryBytes).map(
      (bytes, number) => new AnswerMemory(number, bytes, this),
    );
  }

  /** @returns memory that only the caller uses, with any content. undefined: none is spare */
  take(): AnswerMemory | undefined {
    return this.spares.pop();
  }
}

/** The memories by their numbers. */
export function splitMemories(shared: SharedArrayBuffer, memoryBytes = ANSWER_MEMORY_BYTES): Buffer[] {
  return Array.from({length: shared.byteLength / memoryBytes}, (_, number) =>
    Buffer.from(shared, number * memoryBytes, memoryBytes),
  );
}
