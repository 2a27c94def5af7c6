import assert from "node:assert/strict";
import {test} from "node:test";
import {TaskStream} from "../../../../bench/stages/taskStream.ts";

/** Tasks that end when they are told to. */
class ManualTasks {
  readonly open: (() => void)[] = [];
  started = 0;
  readonly start = (): Promise<void> => {
    this.started++;
    return new Promise(resolve => this.open.push(resolve));
  };

  async endOne(): Promise<void> {
    this.open.shift()?.();
    await new Promise(resolve => setImmediate(resolve));
  }
}

test("as many tasks as asked for are in flight, and each that ends starts one", async () => {
  const tasks = new ManualTasks();
  const stream = new TaskStream(tasks.start, 3);
  stream.start();
  assert.equal(tasks.started, 3);
  await tasks.endOne();
  assert.equal(tasks.started, 4);
  assert.equal(tasks.open.length, 3);
});

test("take resolves at the wanted number of ends, those since the last take counted", async () => {
  const tasks = new ManualTasks();
  const stream = new TaskStream(tasks.start, 2);
  stream.start();
  await tasks.endOne();
  let isTaken = false;
  const taken = stream.take(2).then(() => {
    isTaken = true;
  });
  await new Promise(resolve => setImmediate(resolve));
  assert.equal(isTaken, false);
  await tasks.endOne();
  assert.equal(isTaken, true);
  await taken;
});

test("stop waits for what is in flight and starts no more", async () => {
  const tasks = new ManualTasks();
  const stream = new TaskStream(tasks.start, 2);
  stream.start();
  const stopped = stream.stop();
  await tasks.endOne();
  await tasks.endOne();
  await stopped;
  assert.equal(tasks.started, 2);
});

test("a task that fails fails the take", async () => {
  const stream = new TaskStream(() => Promise.reject(new Error("the thread died")), 2);
  stream.start();
  await assert.rejects(stream.take(1), /the thread died/);
});
