/** Orders that come while an import runs. Each is obeyed between two steps of the source. */
import type {NumberedOrder} from "../messages/importJob.ts";

export class OrderQueue {
  private readonly orders: NumberedOrder[] = [];
  /** Ends the wait for the next step, or for an order. */
  private wake = (): void => {};

  push(order: NumberedOrder): void {
    this.orders.push(order);
    this.wake();
  }

  /** Obeys all orders that are there or come before `next`, the source's next step, is settled. */
  async obeyUntilSettled(
    next: Promise<unknown>,
    obey: (order: NumberedOrder) => Promise<void>,
  ): Promise<void> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
      this.wake();
    };
    next.then(settle, settle);
    for (;;) {
      for (let order = this.orders.shift(); order !== undefined; order = this.orders.shift())
        await obey(order);
      if (isSettled) return;
      await new Promise<void>(resolve => {
        this.wake = resolve;
      });
    }
  }
}
