/**
 * Weighted fair queueing (Demers, Keshav and Shenker 1989): the next element is the one that would finish first if all
 * waiting clients were served in parallel. A client that uses less than its share does not wait for the others, however
 * many there are:
 *
 *   every element costs 1           push A1 A2 A3 B1 C1 A4      shift A1 B1 C1 A2 A3 A4
 *   A and B cost 2000, C costs 1    push A1 A2 B1 B2 C1 C2      shift C1 C2 A1 B1 A2 B2
 *
 * Virtual time is the service that each waiting client has received. An element starts when its client's previous one
 * ends, but not before it arrives, and ends after its cost. The first elements of all clients are in a heap, so `shift`
 * is O(log n) for n clients.
 */
import {Fifo} from "./fifo.ts";

interface ClientElement {
  readonly client: string;
}

interface Line<T> {
  readonly client: string;
  elements: Fifo<T>;
  /** Virtual time at which the client's first element starts. */
  start: number;
  end: number;
  /** Breaks ties between lines with the same end: the lowest is next. */
  sequence: number;
  /** Index in the heap. undefined: the line is empty. */
  at: number | undefined;
}

/** Empty lines are removed in batches, as in clientCounts.ts. */
const KEPT_LINES = 64;

export class ClientQueue<T extends ClientElement> {
  private lines = new Map<string, Line<T>>();
  private mostLines = KEPT_LINES;
  /** Binary heap of the lines with elements, by end. */
  private readonly heap: Line<T>[] = [];
  private now = 0;
  private sequences = 0;
  private count = 0;

  /** @param costOf - the cost of an element if it left now */
  constructor(private readonly costOf: (element: T) => number = () => 1) {}

  get length(): number {
    return this.count;
  }

  push(element: T): void {
    const line = this.lineOf(element.client);
    line.elements.push(element);
    if (line.at === undefined) line.start = Math.max(line.start, this.now);
    this.enter(line, element);
  }

  /** Returns an element that `shift` has just removed to the head of its client's line. Its cost is charged again. */
  putBack(element: T): void {
    const line = this.lineOf(element.client);
    line.elements.putBack(element);
    this.enter(line, element);
  }

  peek(): T | undefined {
    return this.heap[0]?.elements.peek();
  }

  shift(): T | undefined {
    const [line] = this.heap;
    return line === undefined ? undefined : this.take(line);
  }

  /** Like `shift`, but considers only clients whose first element is wanted. */
  shiftIf(isWanted: (element: T) => boolean): T | undefined {
    let next: Line<T> | undefined;
    for (const line of this.heap)
      if (isWanted(line.elements.peek() as T) && (next === undefined || isBefore(line, next))) next = line;
    return next === undefined ? undefined : this.take(next);
  }

  /** Takes the client's last element, at no cost. */
  pop(client: string): T | undefined {
    const line = this.lines.get(client);
    const element = line?.elements.pop();
    if (line === undefined || element === undefined) return undefined;
    this.count--;
    if (line.elements.length === 0) this.leave(line);
    return element;
  }

  /** Corrects the cost of an element that has left. @param cost - to add; may be negative */
  charge(client: string, cost: number): void {
    const line = this.lines.get(client);
    if (line === undefined) return;
    line.start = Math.max(line.start, line.at === undefined ? this.now : 0) + cost;
    this.now += cost / Math.max(1, this.heap.length);
    if (line.at === undefined) return;
    line.end += cost;
    this.siftHeap(line);
  }

  countOf(client: string): number {
    return this.lines.get(client)?.elements.length ?? 0;
  }

  remove(client: string, isUnwanted: (element: T) => boolean): void {
    const line = this.lines.get(client);
    if (line === undefined) return;
    const {length} = line.elements;
    const kept = new Fifo<T>();
    for (let element = line.elements.shift(); element !== undefined; element = line.elements.shift())
      if (!isUnwanted(element)) kept.push(element);
    this.count -= length - kept.length;
    line.elements = kept;
    if (kept.length === 0 && line.at !== undefined) this.leave(line);
  }

  /** The waiting client for which `sizeOf` is highest. undefined: nobody waits. */
  findLargest(sizeOf: (client: string) => number): string | undefined {
    let largest: string | undefined;
    let most = Number.NEGATIVE_INFINITY;
    for (const {client} of this.heap) {
      const size = sizeOf(client);
      if (size <= most) continue;
      most = size;
      largest = client;
    }
    return largest;
  }

  /** @param ownCost - queued by the client. @param cost - of its next. @returns the most that leaves before that */
  costAhead(client: string, ownCost: number, cost: number): number {
    if (this.count === 0) return 0;
    const own = this.lines.get(client);
    const end = Math.max(own?.start ?? 0, this.now) + ownCost + cost;
    let ahead = ownCost;
    for (const line of this.heap) if (line !== own && line.end <= end) ahead += end - line.start;
    return ahead;
  }

  private lineOf(client: string): Line<T> {
    let line = this.lines.get(client);
    if (line === undefined) {
      line = {client, elements: new Fifo(), start: this.now, end: 0, sequence: 0, at: undefined};
      this.lines.set(client, line);
    }
    return line;
  }

  private enter(line: Line<T>, element: T): void {
    this.count++;
    if (line.at !== undefined && line.elements.peek() !== element) return;
    line.at ??= this.heap.push(line) - 1;
    this.lead(line, element);
  }

  private take(line: Line<T>): T {
    const element = line.elements.shift() as T;
    this.count--;
    const cost = this.costOf(element);
    line.start += cost;
    this.now += cost / this.heap.length;
    const next = line.elements.peek();
    if (next === undefined) this.leave(line);
    else this.lead(line, next);
    return element;
  }

  private lead(line: Line<T>, first: T): void {
    line.end = line.start + this.costOf(first);
    line.sequence = this.sequences++;
    this.siftHeap(line);
  }

  private leave(line: Line<T>): void {
    const {heap} = this;
    const last = heap.pop() as Line<T>;
    if (last !== line) {
      last.at = line.at as number;
      heap[last.at] = last;
      this.siftHeap(last);
    }
    line.at = undefined;
    if (this.lines.size <= this.mostLines) return;
    // Removes empty lines that have not used more than their share: new ones would behave the same.
    this.lines = new Map([...this.lines].filter(([, {at, start}]) => at !== undefined || start > this.now));
    this.mostLines = 2 * this.lines.size + KEPT_LINES;
  }

  private siftHeap(line: Line<T>): void {
    const {heap} = this;
    let at = line.at as number;
    for (let above = (at - 1) >> 1; at > 0 && isBefore(line, heap[above] as Line<T>); above = (at - 1) >> 1) {
      this.place(heap[above] as Line<T>, at);
      at = above;
    }
    for (let below = 2 * at + 1; below < heap.length; below = 2 * at + 1) {
      const [left, right] = [heap[below] as Line<T>, heap[below + 1]];
      const first = right !== undefined && isBefore(right, left) ? right : left;
      if (!isBefore(first, line)) break;
      below = first.at as number;
      this.place(first, at);
      at = below;
    }
    this.place(line, at);
  }

  private place(line: Line<T>, at: number): void {
    this.heap[at] = line;
    line.at = at;
  }
}

function isBefore(a: Line<unknown>, b: Line<unknown>): boolean {
  return a.end < b.end || (a.end === b.end && a.sequence < b.sequence);
}
