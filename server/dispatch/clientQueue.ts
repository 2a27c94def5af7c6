/**
 * A queue in which clients take turns. A turn gives the client credit, and its elements leave while the credit covers their cost.
 * So each client gets the same cost, however many elements it has queued and whatever one of them costs:
 *
 *   every element costs a turn      push A1 A2 A3 B1 C1 A4      shift A1 B1 C1 A2 A3 A4
 *   A1 costs three turns            push A1 B1 B2 B3 B4         shift B1 B2 A1 B3 B4
 *
 * A client that is alone waits for no credit. Only clients that have elements in the queue take memory.
 */
import {Fifo} from "../rpc/fifo.ts";

interface ClientElement {
  /** The client that the element belongs to (http/clientAddress.ts). */
  readonly client: string;
}

interface Line<T> {
  /** At least one, but for the line of the last element that left. */
  elements: Fifo<T>;
  credit: number;
}

export class ClientQueue<T extends ClientElement> {
  /**
   * The clients are in the order of their next turns. When the queue gets empty, its last line stays for the same client: a Map that is
   * added to and deleted from for each request is copied again and again (unfinishedRequests.ts).
   */
  private lines = new Map<string, Line<T>>();
  /** The line that got an element last. */
  private recent: Line<T> | undefined;
  /** By n: number of clients that have more than n elements. */
  private readonly deeper: number[] = [];
  private count = 0;

  /** @param turnCost - credit of one turn. @param costOf - cost of an element that would leave now */
  constructor(
    private readonly turnCost: number = 1,
    private readonly costOf: (element: T) => number = () => 1,
  ) {}

  get length(): number {
    return this.count;
  }

  push(element: T): void {
    let line = this.lines.get(element.client);
    if (line === undefined) {
      line = {elements: new Fifo(), credit: this.turnCost};
      if (this.count === 0) this.lines = new Map([[element.client, line]]);
      else this.lines.set(element.client, line);
    } else if (this.count === 0) line.credit = this.turnCost;
    this.recent = line;
    const {length} = line.elements;
    this.deeper[length] = (this.deeper[length] ?? 0) + 1;
    line.elements.push(element);
    this.count++;
  }

  /** The element that `shift` would take. */
  peek(): T | undefined {
    if (this.count === 0) return undefined;
    const alone = this.lines.size === 1 ? this.recent?.elements.peek() : undefined;
    if (alone !== undefined) return alone;
    for (;;) {
      const [client, line] = this.lines.entries().next().value as [string, Line<T>];
      const element = line.elements.peek() as T;
      if (this.lines.size === 1 || line.credit >= this.costOf(element)) return element;
      line.credit += this.turnCost;
      // A map keeps its keys in the order in which they were added, so the client is the last one now.
      this.lines.delete(client);
      this.lines.set(client, line);
    }
  }

  shift(): T | undefined {
    const element = this.peek();
    if (element === undefined) return undefined;
    const line = this.lines.get(element.client) as Line<T>;
    line.credit = Math.max(0, line.credit - this.costOf(element));
    this.take(element.client, line);
    return element;
  }

  /** Takes the first element that is wanted, of those that are first among their client's. The next turn is another client's. */
  shiftIf(isWanted: (element: T) => boolean): T | undefined {
    if (this.count === 0) return undefined;
    for (const [client, line] of this.lines) {
      const element = line.elements.peek() as T;
      if (!isWanted(element)) continue;
      this.take(client, line);
      if (this.lines.delete(client)) this.lines.set(client, line);
      return element;
    }
    return undefined;
  }

  countOf(client: string): number {
    return this.lines.get(client)?.elements.length ?? 0;
  }

  /** Removes the client's elements for which `isUnwanted` is true. The client keeps its place in the order. */
  remove(client: string, isUnwanted: (element: T) => boolean): void {
    const line = this.lines.get(client);
    if (line === undefined) return;
    const {length} = line.elements;
    const kept = new Fifo<T>();
    for (let element = line.elements.shift(); element !== undefined; element = line.elements.shift())
      if (!isUnwanted(element)) kept.push(element);
    for (let depth = kept.length; depth < length; depth++) this.deeper[depth]--;
    this.count -= length - kept.length;
    line.elements = kept;
    if (kept.length === 0 && this.count > 0) this.lines.delete(client);
  }

  /** At most this many elements leave before one that the client would push now, if each costs a turn. */
  countAhead(client: string): number {
    let ahead = 0;
    for (let depth = this.countOf(client); depth >= 0; depth--) ahead += this.deeper[depth] ?? 0;
    return ahead;
  }

  private take(client: string, line: Line<T>): void {
    line.elements.shift();
    this.count--;
    this.deeper[line.elements.length]--;
    if (line.elements.length === 0 && this.count > 0) this.lines.delete(client);
  }
}
