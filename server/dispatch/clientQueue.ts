/**
 * A queue in which clients take turns. Each turn takes one element, however many the client has queued:
 *
 *   push A1 A2 A3 B1 C1 A4      shift A1 B1 C1 A2 A3 A4
 *
 * Only clients that have elements in it take memory.
 */

export interface ClientElement {
  /** The client that the element belongs to (http/clientAddress.ts). */
  readonly client: string;
}

export class ClientQueue<T extends ClientElement> {
  /** Each client's elements in order, at least one. The clients are in the order of their next turns. */
  private readonly lines = new Map<string, T[]>();
  private count = 0;

  get length(): number {
    return this.count;
  }

  push(element: T): void {
    const line = this.lines.get(element.client);
    if (line === undefined) this.lines.set(element.client, [element]);
    else line.push(element);
    this.count++;
  }

  /** The element that `shift` would take. */
  peek(): T | undefined {
    return this.nextLine()?.[0];
  }

  shift(): T | undefined {
    const line = this.nextLine();
    const element = line?.shift();
    if (line === undefined || element === undefined) return undefined;
    this.count--;
    this.lines.delete(element.client);
    // A map keeps its keys in the order in which they were added, so the client is the last one now.
    if (line.length > 0) this.lines.set(element.client, line);
    return element;
  }

  has(client: string): boolean {
    return this.lines.has(client);
  }

  /** Removes the client's elements for which `isUnwanted` is true. */
  remove(client: string, isUnwanted: (element: T) => boolean): void {
    const line = this.lines.get(client);
    if (line === undefined) return;
    const kept = line.filter(element => !isUnwanted(element));
    this.count -= line.length - kept.length;
    if (kept.length === 0) this.lines.delete(client);
    // The client keeps its place in the order.
    else this.lines.set(client, kept);
  }

  /** Number of turns before that of an element that the client would push now. */
  countAhead(client: string): number {
    const own = this.lines.get(client)?.length ?? 0;
    let ahead = own;
    for (const [other, {length}] of this.lines) if (other !== client) ahead += Math.min(length, own + 1);
    return ahead;
  }

  private nextLine(): T[] | undefined {
    return this.lines.values().next().value;
  }
}
