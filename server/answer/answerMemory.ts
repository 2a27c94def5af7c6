/**
 * Memory for the text of large tasks, used again and again:
 *
 *   take() -> job, transferred -> worker writes -> answer, transferred -> pieces sent (TaskText) -> put() -> take() ...
 *
 * Memory that each answer made anew would be the garbage collector's: 100 MB a second outside V8's heap, for which it marks
 * the whole heap several times a second, and which the kernel clears page by page before it is written.
 *
 * Whoever has it transfers it on, which leaves nothing behind (an ArrayBuffer of length 0): memory given back too early
 * could cut an answer short, but never show one request another's text.
 */
import {MessageChannel, type MessagePort} from "node:worker_threads";

export class AnswerMemory {
  /** How many were allocated: it stands still while all come back in time. */
  allocated = 0;
  private readonly memoryBytes: number;
  private readonly limit: number;
  private readonly spares: ArrayBuffer[] = [];
  private readonly closed: MessagePort;

  /** @param limit - how many are kept while nobody uses them */
  constructor(memoryBytes: number, limit: number) {
    this.memoryBytes = memoryBytes;
    this.limit = limit;
    this.closed = new MessageChannel().port1;
    this.closed.close();
  }

  /** How many are kept. */
  get spare(): number {
    return this.spares.length;
  }

  /** @returns memory of `memoryBytes`, of any content, the caller's alone */
  take(): ArrayBuffer {
    const memory = this.spares.pop();
    if (memory !== undefined) return memory;
    this.allocated++;
    return new ArrayBuffer(this.memoryBytes);
  }

  /** Takes over memory that nobody reads or writes any more, also such as `take` did not give: that is let go. */
  put(memory: ArrayBuffer): void {
    if (memory.byteLength === this.memoryBytes && this.spares.length < this.limit) this.spares.push(memory);
    // Freed at once: what is sent to a closed port is dropped. (ArrayBuffer#transfer needs Node 22.)
    else this.closed.postMessage(null, [memory]);
  }
}
