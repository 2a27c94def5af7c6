/** Orders that come while an import runs. Each is obeyed between two blocks. */
import type {StoreError} from "../../storage/errors.ts";
import type {ChainOrder} from "../messages/importJob.ts";
import {Stopped} from "./sourceBlock.ts";

export interface QueuedOrder {
  readonly order: ChainOrder;
  /** The order is done and on disk, or it is refused. The import goes on. */
  answer(refusal: StoreError | undefined): void;
  fail(error: unknown): void;
}

export class OrderQueue {
  private readonly orders: QueuedOrder[] = [];
  private isEnded = false;
  /** Ends the wait for the next block, or for an order. */
  private wake = (): void => {};

  push(order: QueuedOrder): void {
    if (this.isEnded) order.fail(new Stopped());
    else this.orders.push(order);
    this.wake();
  }

  /** Fails all orders that are there or still come. A source that waits for its order would keep the import from its end. */
  end(): void {
    this.isEnded = true;
    for (const order of this.orders.splice(0)) order.fail(new Stopped());
  }

  /** Obeys all orders that are there or come before `next`, the source's next block, is settled. */
  async obeyUntilSettled(next: Promise<unknown>, obey: (order: QueuedOrder) => Promise<void>): Promise<void> {
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
