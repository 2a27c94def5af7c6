import assert from "node:assert/strict";
import {test} from "node:test";
import {AccountDifferences} from "../../../../storage/block/accountDifferences.ts";
import {TouchedSample} from "../../../../sync/layer2/auditSample.ts";

function bytes(length: number, value: number): Uint8Array {
  const out = new Uint8Array(length);
  new DataView(out.buffer).setUint32(length - 4, value);
  return out;
}

function touch(accounts: number, slots: number) {
  const differences = new AccountDifferences();
  for (let at = 0; at < accounts; at++) {
    const storage = Array.from({length: slots}, (_, slot) => ({slot: bytes(32, slot), value: bytes(32, 1)}));
    differences.add({address: bytes(20, at), change: at % 2 === 0 ? {storage} : undefined});
  }
  return {header: {number: 1, hash: bytes(32, 1)}, accounts: differences};
}

test("a sample that is large enough has every account and slot once, also those touched twice or deleted", () => {
  const sample = new TouchedSample(1000);
  sample.note(touch(6, 4));
  sample.note(touch(6, 4));
  const subjects = sample.take();
  assert.deepEqual(
    subjects.map(({address, slots}) => [address, slots.length]),
    Array.from({length: 6}, (_, at) => [bytes(20, at), at % 2 === 0 ? 4 : 0]),
  );
  assert.deepEqual(sample.take(), [], "taking empties it");
});

test("what is offered with each block takes one place", () => {
  const queues = {address: bytes(20, 999), slots: Array.from({length: 8}, (_, slot) => bytes(32, slot))};
  let changed = 0;
  for (let round = 0; round < 10; round++) {
    const sample = new TouchedSample(16);
    for (let block = 0; block < 256; block++) {
      sample.offer({address: bytes(20, 0), slots: [0, 1, 2, 3].map(slot => bytes(32, 4 * block + slot))});
      sample.offerOnce(queues);
    }
    for (const {address, slots} of sample.take()) if (address[19] === 0) changed += slots.length;
    sample.offerOnce(queues);
    assert.deepEqual(sample.take(), [queues], "taking forgets what was offered");
  }
  // 1024 of 1032 offered. One in a hundred of the 160 is expected to be another.
  assert.ok(changed > 140, `${changed} of 160`);
});

test("a sample has at most as many accounts and slots as asked for, and late ones have their chance", () => {
  let late = 0;
  for (let round = 0; round < 40; round++) {
    const sample = new TouchedSample(8);
    for (let block = 0; block < 5; block++) sample.note(touch(100, 30));
    const subjects = sample.take();
    assert.ok(subjects.length <= 16, `${subjects.length} accounts`);
    assert.ok(subjects.reduce((sum, {slots}) => sum + slots.length, 0) <= 8);
    late += subjects.filter(({address}) => (address[19] as number) >= 50).length;
  }
  // Of about 600 chosen, half are expected. Fewer than 50 by chance: less than one in 10^100.
  assert.ok(late > 50, `${late} of the later half`);
});
