/**
 * The garbage collections of a process's threads, as V8 tells them (node --trace-gc):
 *
 *   [17:0x5581]     1234 ms: Scavenge 12.1 (18.0) -> 10.9 (18.0) MB, 1.9 / 0.0 ms  ...
 *          thread                      before         after         pause
 */
const LINE =
  /^\[\d+:(0x[0-9a-f]+)\] +(\d+) ms: (Scavenge|Mark-Compact).*? ([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB, ([\d.]+) \//;
const MIB = 2 ** 20;

/** The collections of one thread. */
export class Collections {
  /** Times of the pauses, in milliseconds. */
  readonly scavengesMs: number[] = [];
  readonly markCompactsMs: number[] = [];
  private garbage = 0;
  private readonly firstMs: number;

  /** @param lastMs, used - when the last collection before was, and the MiB in use after it */
  constructor(
    private lastMs: number,
    private used: number,
  ) {
    this.firstMs = lastMs;
  }

  /** What was allocated, in bytes per second. */
  get garbagePerSecond(): number {
    return this.garbage === 0 ? 0 : (this.garbage * MIB * 1000) / (this.lastMs - this.firstMs);
  }

  count(isScavenge: boolean, atMs: number, before: number, after: number, pauseMs: number): void {
    (isScavenge ? this.scavengesMs : this.markCompactsMs).push(pauseMs);
    this.garbage += before - this.used;
    this.used = after;
    this.lastMs = atMs;
  }

  /** @returns counts that begin now */
  restart(): Collections {
    return new Collections(this.lastMs, this.used);
  }
}

export class CollectionLog {
  private readonly threads = new Map<string, Collections>();
  private rest = "";

  /** Reads a part of the process's output. */
  read(text: string): void {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() as string;
    for (const line of lines) {
      const [, thread, at, kind, before, after, pause] = LINE.exec(line) ?? [];
      if (thread === undefined) continue;
      const counted = this.threads.get(thread) ?? new Collections(Number(at), Number(before));
      this.threads.set(thread, counted);
      counted.count(kind === "Scavenge", Number(at), Number(before), Number(after), Number(pause));
    }
  }

  /** Forgets what was counted, but not the threads. */
  restart(): void {
    for (const [thread, counted] of this.threads) this.threads.set(thread, counted.restart());
  }

  /** The main thread comes first: it collects before any other one starts. The others follow, those with most garbage first. */
  list(): Collections[] {
    const [main, ...others] = this.threads.values();
    return main === undefined
      ? []
      : [main, ...others.sort((a, b) => b.garbagePerSecond - a.garbagePerSecond)];
  }
}
