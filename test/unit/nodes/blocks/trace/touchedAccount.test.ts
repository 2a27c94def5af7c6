import assert from "node:assert/strict";
import {test} from "node:test";
import {TouchedAccount} from "../../../../../nodes/blocks/trace/touchedAccount.ts";

const ADDRESS = new Uint8Array(20).fill(1);
const COUNT = `0x${"1".padStart(64, "0")}`;
const ZERO = `0x${"0".repeat(64)}`;
const STATE = {nonce: 1n, balance: 0n};

/** The slot's value in the difference. */
function slotAfter(account: TouchedAccount, after: string, before: string): string | undefined {
  const {change} = account.differ(
    ADDRESS,
    STATE,
    undefined,
    () => after,
    () => before,
  );
  const slot = change?.storage?.find(
    one => Buffer.compare(one.slot, Buffer.from(COUNT.slice(2), "hex")) === 0,
  );
  return slot === undefined ? undefined : `0x${Buffer.from(slot.value).toString("hex")}`;
}

test("a slot that a transaction writes and the block's end sets back has its value after the block", () => {
  const account = new TouchedAccount();
  account.add({before: {nonce: 1n}, after: {nonce: 1n}, slots: new Map([[COUNT, COUNT]])});
  account.addSlot(COUNT);
  assert.equal(slotAfter(account, ZERO, ZERO), ZERO);
});

test("a slot of a system contract is written only if the block changes it", () => {
  const account = new TouchedAccount();
  account.addSlot(COUNT);
  assert.equal(slotAfter(account, ZERO, ZERO), undefined);
  assert.equal(slotAfter(account, COUNT, ZERO), COUNT);
});
