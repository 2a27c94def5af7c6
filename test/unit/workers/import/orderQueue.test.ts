import assert from "node:assert/strict";
import {test} from "node:test";
import {StoreError} from "../../../../storage/errors.ts";
import {OrderQueue} from "../../../../workers/import/orderQueue.ts";

/** @returns rejects when the order fails */
function push(orders: OrderQueue, order: {readonly rollback: number}): Promise<void> {
  return new Promise((resolve, reject) => {
    orders.push({
      order,
      answer: refusal => (refusal === undefined ? resolve() : reject(refusal)),
      fail: reject,
    });
  });
}

test("an order behind one that ends the import fails, and so does one that comes later", async () => {
  const orders = new OrderQueue();
  const never = new Promise<void>(() => {});
  const obeying = orders.obeyUntilSettled(never, async ({fail}) => {
    const error = new StoreError("WRITE_FAILED", "the disk is full");
    fail(error);
    throw error;
  });
  const first = push(orders, {rollback: 3});
  const second = push(orders, {rollback: 2});
  await Promise.all([
    assert.rejects(obeying, {code: "WRITE_FAILED"}),
    assert.rejects(first, {code: "WRITE_FAILED"}),
    obeying.catch(() => orders.end()),
    assert.rejects(second, {name: "Stopped"}),
  ]);
  await assert.rejects(push(orders, {rollback: 2}), {name: "Stopped"});
});

test("orders are obeyed in turn while the next block does not come", async () => {
  const orders = new OrderQueue();
  let settle = (): void => {};
  const next = new Promise<void>(resolve => {
    settle = resolve;
  });
  const obeyed: unknown[] = [];
  const obeying = orders.obeyUntilSettled(next, async ({order, answer}) => {
    obeyed.push(order);
    answer(undefined);
  });
  await push(orders, {rollback: 1});
  await push(orders, {rollback: 2});
  settle();
  await obeying;
  assert.deepEqual(obeyed, [{rollback: 1}, {rollback: 2}]);
});
