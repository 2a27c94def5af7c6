import assert from "node:assert/strict";
import {test} from "node:test";
import {
  callEnd,
  KEYS_AT,
  listEntries,
  ProofForm,
  packedBytes,
  readCallBlock,
  readCallForm,
  readKeyCount,
  writeCallHead,
} from "../../../../workers/messages/packedCall.ts";

test("what the writer wrote is what the readers read, wherever the call begins", () => {
  const calls = Buffer.alloc(2 * KEYS_AT, 0xee);
  writeCallHead(calls, 0, 7, 0, ProofForm.PLAIN);
  writeCallHead(calls, KEYS_AT, 2 ** 48 - 1, 2 ** 16 - 1, ProofForm.WITH_BLOCK);
  const read = (start: number) => [
    readCallBlock(calls, start),
    readKeyCount(calls, start),
    readCallForm(calls, start),
  ];
  assert.deepEqual(read(0), [7, 0, ProofForm.PLAIN]);
  assert.deepEqual(read(KEYS_AT), [2 ** 48 - 1, 2 ** 16 - 1, ProofForm.WITH_BLOCK]);
});

test("a call for a multiproof ends after its last entry, and lists where its entries begin", () => {
  const forms = [
    ProofForm.MULTI_HEX,
    ProofForm.NEXT_ENTRY,
    ProofForm.NEXT_ENTRY,
    ProofForm.PLAIN,
    ProofForm.MULTI_BYTES,
  ];
  const keyCounts = [0, 2, 1, 1, 0];
  const calls = Buffer.alloc(5 * KEYS_AT + 4 * 32);
  const starts: number[] = [];
  let at = 0;
  for (const [entry, form] of forms.entries()) {
    const keyCount = keyCounts[entry] as number;
    starts.push(at);
    writeCallHead(calls, at, 7, keyCount, form);
    at += packedBytes(keyCount);
  }
  const [multi, plain, last] = [0, starts[3] as number, starts[4] as number];
  assert.equal(callEnd(calls, multi), plain);
  assert.equal(callEnd(calls, plain), last);
  assert.equal(callEnd(calls, last), calls.length);
  assert.deepEqual(listEntries(calls.subarray(multi, plain)), starts.slice(0, 3));
});
