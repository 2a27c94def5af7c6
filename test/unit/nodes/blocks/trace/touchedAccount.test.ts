import assert from "node:assert/strict";
import {test} from "node:test";
import {TouchedAccount} from "../../../../../nodes/blocks/trace/touchedAccount.ts";
import {toHex} from "../../../../../storage/hex.ts";

const COUNT = `0x${"1".padStart(64, "0")}`;
const ZERO = `0x${"0".repeat(64)}`;

function touch(): TouchedAccount {
  return new TouchedAccount(`0x${"01".repeat(20)}`);
}

/** The slot's value in the difference. */
function slotAfter(account: TouchedAccount, after: string, before: string): string | undefined {
  for (const {call, take} of account.askForState(5))
    if (call.method === "eth_getStorageAt") take(call.params[2] === "0x5" ? after : before);
    else take("0x1");
  const slot = account.differ().change?.storage?.find(one => toHex(one.slot) === COUNT);
  return slot && toHex(slot.value);
}

test("a slot that a transaction writes and the block's end sets back has its value after the block", () => {
  const account = touch();
  account.add({before: {nonce: 1n}, after: {nonce: 1n}, slots: new Map([[COUNT, COUNT]])});
  account.addSlot(COUNT);
  assert.equal(slotAfter(account, ZERO, ZERO), ZERO);
});

test("a slot of a system contract is written only if the block changes it", () => {
  const account = touch();
  account.addSlot(COUNT);
  assert.equal(slotAfter(account, ZERO, ZERO), undefined);
  assert.equal(slotAfter(account, COUNT, ZERO), COUNT);
});
