/** A queue as an array with a read position. Array.shift moves every element, which takes 10 us for 10 000 of them. */

/** Elements already read are removed once they are so many, and half of the array. */
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

  putBack(element: T): void {
    if (this.start > 0) this.elements[--this.start] = element;
    else this.elements.unshift(element);
  }

  pop(): T | undefined {
    return this.start === this.elements.length ? undefined : this.elements.pop();
  }
}
