/**
 * Deadlines of many elements, rounded up to ticks, so that one interval timer serves all of them:
 *
 *   tick    | taken ... 4711 | 4712: a, b | 4713: c |    | 4715: d      one set per tick that has elements
 *
 * Adding and removing take the same time however many elements there are.
 */

export const TICK_MS = 50;

export class Deadlines<T> {
  private readonly ticks = new Map<number, Set<T>>();
  /** Every tick up to this one is taken. */
  private taken = 0;

  /**
   * @param timeoutMs - above 0
   * @returns the tick, for `remove`
   */
  add(element: T, nowMs: number, timeoutMs: number): number {
    // Ticks that passed while there were no elements need no look.
    if (this.ticks.size === 0) this.taken = Math.floor(nowMs / TICK_MS);
    const tick = Math.max(this.taken + 1, Math.ceil((nowMs + timeoutMs) / TICK_MS));
    const elements = this.ticks.get(tick);
    if (elements === undefined) this.ticks.set(tick, new Set([element]));
    else elements.add(element);
    return tick;
  }

  remove(element: T, tick: number): void {
    const elements = this.ticks.get(tick);
    if (elements === undefined || !elements.delete(element) || elements.size > 0) return;
    this.ticks.delete(tick);
  }

  /** Removes and returns the elements whose deadlines have passed, in the order of their ticks. */
  take(nowMs: number): T[] {
    const due: T[] = [];
    for (const last = Math.floor(nowMs / TICK_MS); this.taken < last && this.ticks.size > 0; ) {
      this.taken++;
      for (const element of this.ticks.get(this.taken) ?? []) due.push(element);
      this.ticks.delete(this.taken);
    }
    return due;
  }
}
