import assert from "node:assert/strict";
import {test} from "node:test";
import {OrderQueue} from "../../../../workers/import/orderQueue.ts";

test("orders are obeyed in turn while the next step does not come, and one that fails ends the wait", async () => {
  const orders = new OrderQueue();
  const obeyed: number[] = [];
  let settle = (): void => {};
  const next = new Promise<void>(resolve => {
    settle = resolve;
  });
  orders.push({order: 1, rollback: 3});
  const obeying = orders.obeyUntilSettled(next, async ({order}) => {
    obeyed.push(order);
    if (order === 1) orders.push({order: 2, rollback: 2});
    if (order === 3) settle();
  });
  await new Promise(setImmediate);
  assert.deepEqual(obeyed, [1, 2]);
  orders.push({order: 3, rollback: 1});
  await obeying;
  assert.deepEqual(obeyed, [1, 2, 3]);
  orders.push({order: 4, rollback: 1});
  const never = new Promise<void>(() => {});
  const fail = () => Promise.reject(new Error("the disk is full"));
  await assert.rejects(orders.obeyUntilSettled(never, fail), /^Error: the disk is full$/);
});
