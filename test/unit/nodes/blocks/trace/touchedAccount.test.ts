import assert from "node:assert/strict";
import {test} from "node:test";
import type {AccountTrace} from "../../../../../nodes/blocks/trace/accountTrace.ts";
import {TouchedAccount} from "../../../../../nodes/blocks/trace/touchedAccount.ts";
import {toHex} from "../../../../../storage/hex.ts";

const COUNT = `0x${"1".padStart(64, "0")}`;
const ZERO = `0x${"0".repeat(64)}`;

function touch(): TouchedAccount {
  return new TouchedAccount(`0x${"01".repeat(20)}`);
}

/** The slot's value in the difference. */
function slotAfter(account: TouchedAccount, after: string, before: string): string | undefined {
  for (const {call, take} of account.queryState(5))
    if (call.method === "eth_getStorageAt") take(call.params[2] === "0x5" ? after : before);
    else take("0x1");
  const slot = account.toDifference().change?.storage?.find(one => toHex(one.slot) === COUNT);
  return slot && toHex(slot.value);
}

const view = (nonce?: bigint, balance?: bigint) => ({nonce, balance, code: undefined});
const NONCE = "eth_getTransactionCount";
const BALANCE = "eth_getBalance";
/** Traces of one account, and what is asked for after the block. What is not asked is 7 and 9. */
const SAID: readonly (readonly [
  what: string,
  traces: readonly (readonly [before: AccountTrace["before"], after: AccountTrace["after"]])[],
  asked: readonly string[],
])[] = [
  ["all is said after the last one", [[view(6n, 8n), view(7n, 9n)]], []],
  ["what it does not change is said before it", [[view(7n, 8n), view(undefined, 9n)]], []],
  [
    "an earlier one says it",
    [
      [view(6n, 8n), view(7n, 9n)],
      [view(), view()],
    ],
    [],
  ],
  [
    "a later one says something else",
    [
      [view(1n, 2n), view(3n, 4n)],
      [view(3n, 4n), view(7n, 9n)],
    ],
    [],
  ],
  ["no one says the nonce", [[view(undefined, 8n), view(undefined, 9n)]], [NONCE]],
  ["no one says the balance", [[view(6n), view(7n)]], [BALANCE]],
  ["it was removed", [[view(7n, 9n), "removed"]], [NONCE, BALANCE]],
  [
    "it was removed and made",
    [
      [view(1n, 1n), "removed"],
      ["created", view(7n, 9n)],
    ],
    [],
  ],
  ["no trace has it", [], [NONCE, BALANCE]],
];

test("nonce and balance that traces say are not asked for, unless they are to be read", () => {
  for (const [what, traces, asked] of SAID)
    for (const readsState of [false, true]) {
      const account = touch();
      account.readsState = readsState;
      for (const [before, after] of traces) account.add({before, after, slots: new Map()});
      const ofState = account
        .queryState(5)
        .filter(({call: {method, params}}) => params.at(-1) === "0x5" && method !== "eth_getCode");
      assert.deepEqual(
        ofState.map(({call}) => call.method),
        readsState ? [NONCE, BALANCE] : asked,
        what,
      );
      for (const {call, take} of ofState) take(call.method === NONCE ? "0x7" : "0x9");
      const {nonce, balance} = account.toDifference().change ?? {};
      assert.deepEqual([nonce, balance], [7n, 9n], what);
    }
});

test("an account that was made without a balance is not asked for one", () => {
  const account = touch();
  account.add({before: "absent", after: view(undefined, 0n), slots: new Map()});
  const numbers = account.queryState(5).map(({call}) => call.params.at(-1));
  assert.deepEqual(numbers, ["0x4", "0x4"]);
  assert.equal(account.needsCode, true);
});

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
