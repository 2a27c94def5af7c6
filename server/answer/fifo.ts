/** A queue: array and read position. Array.shift moves every element, 10 us at 10 000 of them. */

/** Read elements are cut off when they are so many and the larger half. */
const COMPACT_FROM = 64;

export class Fifo<T> {
  private readonly elements: (T | undefined)[] = [];
  private start = 0;

  get length(): number {
    return this.elements.length - this.start;
  }

  push(element: T): void {
    this.elements.push(element);
  }

  peek(): T | undefined {
    return this.elements[this.start];
  }

  shift(): T | undefined {
    if (this.start === this.elements.length) return undefined;
    const element = this.elements[this.start];
    this.elements[this.start++] = undefined;
    if (this.start >= COMPACT_FROM && this.start * 2 >= this.elements.length) {
      this.elements.splice(0, this.start);
      this.start = 0;
    }
    return element;
  }
}
