/**
 * Memory for the answers of large tasks. It is used again and again:
 *
 *   take() -> job, transferred -> worker writes -> answer, transferred -> pieces sent (TaskText) -> put() -> take() ...
 *
 * New memory for each answer would cost more. It would be 100 MB a second outside V8's heap. For that the garbage
 * collector marks the whole heap several times a second, and the kernel clears each page before it is written.
 *
 * Memory is always transferred, which leaves its last owner an ArrayBuffer of length 0. So memory that is given back too
 * early could cut an answer short, but never shows one request the text of another.
 */
import {MessageChannel, type MessagePort} from "node:worker_threads";

export class AnswerMemory {
  /** Memories allocated so far. The number stays the same while all come back in time. */
  allocated = 0;
  private readonly spares: ArrayBuffer[] = [];
  private readonly closed: MessagePort;

  /** @param limit - how many unused memories are kept */
  constructor(
    private readonly memoryBytes: number,
    private readonly limit: number,
  ) {
    this.closed = new MessageChannel().port1;
    this.closed.close();
  }

  get spare(): number {
    return this.spares.length;
  }

  /** @returns memory of `memoryBytes` that only the caller uses. It may have any content */
  take(): ArrayBuffer {
    const memory = this.spares.pop();
    if (memory !== undefined) return memory;
    this.allocated++;
    return new ArrayBuffer(this.memoryBytes);
  }

  /** Takes over memory that nobody reads or writes any more. Memory of another size is freed. */
  put(memory: ArrayBuffer): void {
    if (memory.byteLength === this.memoryBytes && this.spares.length < this.limit) this.spares.push(memory);
    // Sent to a closed port, it is dropped and freed at once. (ArrayBuffer#transfer needs Node 22.)
    else this.closed.postMessage(undefined, [memory]);
  }
}
